"""Bytes in and out: forms, uploads, downloads and archives."""
