# One image for every process of the service: the API, a worker of either queue, migrations.
FROM python:3.11-slim-bookworm AS build
WORKDIR /labcrew
COPY requirements/bootstrap.txt requirements/runtime.txt requirements/
RUN python -m venv /venv \
    && /venv/bin/pip install --no-cache-dir --quiet --require-hashes -r requirements/bootstrap.txt \
    && /venv/bin/uv pip install --quiet --no-cache --python /venv/bin/python --system-certs --compile-bytecode \
        --require-hashes -r requirements/runtime.txt
COPY pyproject.toml README.md LICENSE ./
# The page is built here and now; Node stays in this stage.
COPY requirements/page.txt requirements/
COPY scripts/build_page.py scripts/
COPY frontend frontend
RUN ln -s /venv .venv && /venv/bin/python scripts/build_page.py && rm -rf .venv /venv/node frontend scripts
COPY backend backend
RUN /venv/bin/uv pip install --quiet --no-cache --python /venv/bin/python --no-deps --no-build-isolation --offline -e . \
    && /venv/bin/python -m compileall -q backend

FROM python:3.11-slim-bookworm
RUN useradd --uid 10001 --create-home labcrew && install -d -o labcrew -g labcrew -m 700 /data
COPY --from=build /venv /venv
COPY --from=build /labcrew /labcrew
# The image listens for others, so it asks for SECRET_KEY, and shows no figures without METRICS_TOKEN.
ENV PATH=/venv/bin:$PATH LABCREW_ENV=production LABCREW_HOME=/data API_HOST=0.0.0.0 PYTHONUNBUFFERED=1
WORKDIR /data
USER labcrew
VOLUME /data
EXPOSE 8000
STOPSIGNAL SIGTERM
CMD ["labcrew", "up"]
