"""Profiles of a shop's tables: orders, and the products that they are of."""

from app.agents.goals.tables.profiles import Column, TableProfile

ORDERS = TableProfile(
    "orders",
    1_000,
    (
        Column("order_id", "integer", "id", unique=True, distinct=1_000),
        Column("date", "datetime", "datetime", low="2023-01-01", high="2024-12-31", distinct=700),
        Column("product_id", "integer", "id", distinct=50),
        Column("revenue", "number", "numeric", low=1, high=900, distinct=900),
        Column("cost", "number", "numeric", low=1, high=500, distinct=900),
        Column("region", "text", "category", distinct=2, values=("north", "south")),
    ),
)
PRODUCTS = TableProfile(
    "products",
    50,
    (
        Column("product_id", "integer", "id", unique=True, distinct=50),
        Column("product_name", "text", "text", distinct=50, unique=True),
        Column("category", "text", "category", distinct=3, values=("a", "b", "c")),
    ),
)
TABLES = (ORDERS, PRODUCTS)
