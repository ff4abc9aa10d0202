# The client of openapi-generator's python; the package `cdr` is generated beside this file.
from os import environ

from cdr import ApiClient, COMPOSITIONApi, Configuration, EHRApi, QUERYApi, STOREDQUERYApi, TEMPLATEApi
from cdr.exceptions import ApiException
from cdr.models.composition import COMPOSITION
from cdr.models.error import Error
from cdr.models.query_request import QueryRequest

TEMPLATE = environ["TEMPLATE"]
client = ApiClient(Configuration(host=environ["CDR"]))
compositions, queries, templates = COMPOSITIONApi(client), QUERYApi(client), TEMPLATEApi(client)


def uid_of(answer):
    return answer.headers["ETag"].strip('"')


with open(environ["OPT"], encoding="utf-8") as opt:
    try:
        status = templates.template_adl1_4_upload_with_http_info(opt.read()).status_code
    except ApiException as error:
        status = error.status
print("template", status)

ehr_id = uid_of(EHRApi(client).ehr_create_with_http_info())
print("ehr", ehr_id)

composition = templates.template_adl1_4_example(TEMPLATE)
minimal = compositions.composition_create_with_http_info(ehr_id, composition)
print("minimal", uid_of(minimal))

whole = compositions.composition_create_with_http_info(ehr_id, composition, prefer="return=representation")
print("whole", COMPOSITION.from_json(whole.raw_data).uid.actual_instance.value)

uid = uid_of(minimal).split("::")[0]
found = compositions.composition_get(ehr_id, uid)
print("read", found.rmType, found.archetype_details.template_id.value)

found.territory.code_string = "GB"
corrected = compositions.composition_update_with_http_info(
    ehr_id, uid, found, if_match=f'"{uid_of(minimal)}"'
)
print("corrected", uid_of(corrected))

query = f"SELECT c/uid/value AS uid FROM EHR e[ehr_id/value='{ehr_id}'] CONTAINS COMPOSITION c"
result = queries.query_execute_adhoc_post(QueryRequest(q=f"{query} LIMIT 5"))
print("rows", len(result.rows), result.columns[0].name)

name = "org.example::compositions_of_openapi_generator"
STOREDQUERYApi(client).query_store_version(name, "1.0.0", query, _content_type="text/plain")
print("stored", len(queries.query_execute_stored(name).rows))

composition.language.code_string = "xx"
try:
    compositions.composition_create(ehr_id, composition)
except ApiException as error:
    told = Error.from_json(error.body)
    print("error", error.status, told.code, str(len(told.violations) > 0).lower())
