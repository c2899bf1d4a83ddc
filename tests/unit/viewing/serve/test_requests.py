"""Requests made up from the API's own description, good ones and bad ones: none of them breaks the server."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, settings

from weft import Aligner
from weft.viewing.serve.limits import Limits
from weft.viewing.serve.server import create_app

schemathesis = pytest.importorskip("schemathesis")

app = create_app({"weft-mini": Aligner.from_pretrained()}, limits=Limits(body=20_000, seconds=600), hosts=("*",))
schema = schemathesis.openapi.from_asgi("/openapi.json", app)


@schema.parametrize()
@settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
def test_no_request_breaks_the_server(case):
    response = case.call()
    assert response.status_code < 500, response.text
    checks = [
        schemathesis.checks.not_a_server_error,
        schemathesis.specs.openapi.checks.response_schema_conformance,
        schemathesis.specs.openapi.checks.content_type_conformance,
    ]
    case.validate_response(response, checks=checks)
