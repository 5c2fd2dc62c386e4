"""Placeholder for the composition root until the first page lands."""

from flask import Blueprint

blueprint = Blueprint("console", __name__, url_prefix="/console")
