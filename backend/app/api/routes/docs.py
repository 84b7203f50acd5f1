"""Swagger UI, from files of a package, so that it works without internet."""

from importlib.resources import files

from fastapi import APIRouter, Response

from app.errors import NotFound

router = APIRouter(tags=["health"], include_in_schema=False)

_MEDIA_TYPES = {
    "swagger-ui-bundle.js": "text/javascript",
    "swagger-ui.css": "text/css",
    "favicon-32x32.png": "image/png",
}

_POLICY = "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; frame-ancestors 'none'"

_PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Labcrew API</title>
<link rel="icon" href="docs/favicon-32x32.png">
<link rel="stylesheet" href="docs/swagger-ui.css">
<div id="swagger-ui"></div>
<script src="docs/swagger-ui-bundle.js"></script>
<script src="docs/start.js"></script>
</html>
"""

_START = """
SwaggerUIBundle({
  url: new URL("/openapi.json", location).href,
  dom_id: "#swagger-ui",
  deepLinking: true,
  filter: true,
  persistAuthorization: true,
});
"""


@router.get("/docs")
async def docs() -> Response:
    return Response(_PAGE, media_type="text/html", headers={"Content-Security-Policy": _POLICY})


@router.get("/docs/{name}")
async def docs_file(name: str) -> Response:
    if name == "start.js":
        return Response(_START, media_type="text/javascript")
    if name not in _MEDIA_TYPES:
        raise NotFound("file_not_found", f"The documentation has no file {name}.")
    body = files("fastapi_swagger.resources").joinpath(name).read_bytes()
    return Response(body, media_type=_MEDIA_TYPES[name], headers={"Cache-Control": "public, max-age=86400"})
