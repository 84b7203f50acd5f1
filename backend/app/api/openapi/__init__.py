"""The OpenAPI document: operations, problems with their examples, and schemas of answers."""
