# The client of openapi-python-client; the package `cdr` is generated beside this file.
import json
from os import environ

from cdr import Client
from cdr.api.composition import composition_create, composition_get, composition_update
from cdr.api.ehr import ehr_create
from cdr.api.query import query_execute_adhoc_post, query_execute_stored
from cdr.api.stored_query import query_store_version
from cdr.api.template import template_adl1_4_example
from cdr.models import AqlBody, COMPOSITION, Error, QueryRequest, RESULTSET

TEMPLATE = environ["TEMPLATE"]
client = Client(base_url=environ["CDR"])


def uid_of(answer):
    return answer.headers["ETag"].strip('"')


# It has no operation whose body is XML.
with open(environ["OPT"], "rb") as opt:
    upload = client.get_httpx_client().post(
        "/rest/openehr/v1/definition/template/adl1.4",
        content=opt.read(),
        headers={"Content-Type": "application/xml"},
    )
print("template", upload.status_code)

ehr_id = uid_of(ehr_create.sync_detailed(client=client))
print("ehr", ehr_id)

composition = template_adl1_4_example.sync(TEMPLATE, client=client)
assert isinstance(composition, COMPOSITION)
minimal = composition_create.sync_detailed(ehr_id, client=client, body=composition)
print("minimal", uid_of(minimal))

whole = composition_create.sync_detailed(ehr_id, client=client, body=composition, prefer="return=representation")
print("whole", COMPOSITION.from_dict(json.loads(whole.content)).uid.value)

uid = uid_of(minimal).split("::")[0]
found = composition_get.sync(ehr_id, uid, client=client)
assert isinstance(found, COMPOSITION)
print("read", found.field_type_, found.archetype_details.template_id.value)

found.territory.code_string = "GB"
corrected = composition_update.sync_detailed(
    ehr_id, uid, client=client, body=found, if_match=f'"{uid_of(minimal)}"'
)
print("corrected", uid_of(corrected))

query = f"SELECT c/uid/value AS uid FROM EHR e[ehr_id/value='{ehr_id}'] CONTAINS COMPOSITION c"
result = query_execute_adhoc_post.sync(client=client, body=QueryRequest(q=f"{query} LIMIT 5"))
assert isinstance(result, RESULTSET)
print("rows", len(result.rows), result.columns[0].name)

name = "org.example::compositions_of_python"
query_store_version.sync_detailed(name, "1.0.0", client=client, body=AqlBody(q=query))
again = query_execute_stored.sync(name, client=client)
assert isinstance(again, RESULTSET)
print("stored", len(again.rows))

composition.language.code_string = "xx"
wrong = composition_create.sync_detailed(ehr_id, client=client, body=composition)
assert isinstance(wrong.parsed, Error)
print("error", wrong.status_code.value, wrong.parsed.code, str(len(wrong.parsed.violations) > 0).lower())
