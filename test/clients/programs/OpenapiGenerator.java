// The client of openapi-generator's java (library native); the packages `cdr` are generated beside this file.
import cdr.ApiClient;
import cdr.ApiException;
import cdr.ApiResponse;
import cdr.api.CompositionApi;
import cdr.api.EhrApi;
import cdr.api.QueryApi;
import cdr.api.StoredQueryApi;
import cdr.api.TemplateApi;
import cdr.model.Error;
import cdr.model.QueryRequest;
import java.nio.file.Files;
import java.nio.file.Path;

public class OpenapiGenerator {
  static String uidOf(ApiResponse<?> answer) {
    return answer.getHeaders().get("ETag").get(0).replace("\"", "");
  }

  static int upload(TemplateApi templates, String opt) {
    try {
      return templates.templateAdl14UploadWithHttpInfo(opt, null, null).getStatusCode();
    } catch (ApiException refused) {
      return refused.getCode();
    }
  }

  public static void main(String[] args) throws Exception {
    var client = new ApiClient();
    client.updateBaseUri(System.getenv("CDR"));
    var compositions = new CompositionApi(client);
    var queries = new QueryApi(client);
    var templates = new TemplateApi(client);

    System.out.println("template " + upload(templates, Files.readString(Path.of(System.getenv("OPT")))));

    var ehr = uidOf(new EhrApi(client).ehrCreateWithHttpInfo(null, null, null, null, null));
    System.out.println("ehr " + ehr);

    var composition = templates.templateAdl14Example(System.getenv("TEMPLATE"), null, null, null, null);
    var minimal =
        compositions.compositionCreateWithHttpInfo(
            ehr, composition, null, null, null, null, null, null, null, null, null);
    System.out.println("minimal " + uidOf(minimal));

    var whole =
        compositions.compositionCreate(
            ehr, composition, null, null, "return=representation", null, null, null, null, null, null);
    System.out.println("whole " + whole.getCOMPOSITION().getUid().getOBJECTVERSIONID().getValue());

    var uid = uidOf(minimal).split("::")[0];
    var found = compositions.compositionGet(ehr, uid, null, null, null);
    System.out.println(
        "read " + found.getRmType() + " " + found.getArchetypeDetails().getTemplateId().getValue());

    found.getTerritory().setCodeString("GB");
    var match = "\"" + uidOf(minimal) + "\"";
    var corrected =
        compositions.compositionUpdateWithHttpInfo(
            ehr, uid, found, null, null, null, null, null, null, null, null, null, match, null);
    System.out.println("corrected " + uidOf(corrected));

    var query =
        "SELECT c/uid/value AS uid FROM EHR e[ehr_id/value='" + ehr + "'] CONTAINS COMPOSITION c";
    var result =
        queries.queryExecuteAdhocPost(
            new QueryRequest().q(query + " LIMIT 5"), null, null, null, null, null);
    System.out.println("rows " + result.getRows().size() + " " + result.getColumns().get(0).getName());

    var name = "org.example::compositions_of_java";
    new StoredQueryApi(client).queryStoreVersion(name, "1.0.0", query, null, null);
    var again = queries.queryExecuteStored(name, null, null, null, null, null, null);
    System.out.println("stored " + again.getRows().size());

    composition.getLanguage().setCodeString("xx");
    try {
      compositions.compositionCreate(
          ehr, composition, null, null, null, null, null, null, null, null, null);
    } catch (ApiException refused) {
      var error = ApiClient.createDefaultObjectMapper().readValue(refused.getResponseBody(), Error.class);
      System.out.println(
          "error " + refused.getCode() + " " + error.getCode() + " " + !error.getViolations().isEmpty());
    }
  }
}
