// The client of oapi-codegen; the package `cdr` is generated beside this file.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strings"

	"walk/cdr"
)

func must[Value any](value Value, err error) Value {
	if err != nil {
		panic(err)
	}
	return value
}

// Where an answer may have several forms the client looks for a Content-Type without `charset`, and leaves the body to its caller.
func compositionOf(body []byte) (composition cdr.COMPOSITION) {
	if err := json.Unmarshal(body, &composition); err != nil {
		panic(err)
	}
	return composition
}

func uidOf(response *http.Response) string {
	return strings.Trim(response.Header.Get("ETag"), `"`)
}

func main() {
	ctx := context.Background()
	template := os.Getenv("TEMPLATE")
	client := must(cdr.NewClientWithResponses(os.Getenv("CDR")))

	opt := must(os.Open(os.Getenv("OPT")))
	upload := must(client.TemplateAdl14UploadWithBodyWithResponse(ctx, nil, "application/xml", opt))
	fmt.Println("template", upload.StatusCode())

	created := must(client.EhrCreateWithBodyWithResponse(ctx, nil, "application/json", http.NoBody))
	ehr := uidOf(created.HTTPResponse)
	fmt.Println("ehr", ehr)

	composition := compositionOf(must(client.TemplateAdl14ExampleWithResponse(ctx, template, nil)).Body)
	minimal := must(client.CompositionCreateWithResponse(ctx, ehr, nil, composition))
	fmt.Println("minimal", uidOf(minimal.HTTPResponse))

	prefer := "return=representation"
	with := &cdr.CompositionCreateParams{Prefer: &prefer}
	whole := must(client.CompositionCreateWithResponse(ctx, ehr, with, composition))
	fmt.Println("whole", must(compositionOf(whole.Body).Uid.AsOBJECTVERSIONID()).Value)

	uid, _, _ := strings.Cut(uidOf(minimal.HTTPResponse), "::")
	found := compositionOf(must(client.CompositionGetWithResponse(ctx, ehr, uid, nil)).Body)
	fmt.Println("read", found.UnderscoreType, found.ArchetypeDetails.TemplateId.Value)

	found.Territory.CodeString = "GB"
	match := fmt.Sprintf("%q", uidOf(minimal.HTTPResponse))
	changing := &cdr.CompositionUpdateParams{IfMatch: &match}
	corrected := must(client.CompositionUpdateWithResponse(ctx, ehr, uid, changing, found))
	fmt.Println("corrected", uidOf(corrected.HTTPResponse))

	query := "SELECT c/uid/value AS uid FROM EHR e[ehr_id/value='" + ehr + "'] CONTAINS COMPOSITION c"
	result := must(client.QueryExecuteAdhocPostWithResponse(ctx, nil, cdr.QueryRequest{Q: query + " LIMIT 5"})).JSON200
	fmt.Println("rows", len(result.Rows), result.Columns[0].Name)

	name := "org.example::compositions_of_oapi_codegen"
	must(client.QueryStoreVersionWithResponse(ctx, name, "1.0.0", nil, cdr.AqlBody{Q: query}))
	again := must(client.QueryExecuteStoredWithResponse(ctx, name, nil)).JSON200
	fmt.Println("stored", len(again.Rows))

	composition.Language.CodeString = "xx"
	wrong := must(client.CompositionCreateWithResponse(ctx, ehr, nil, composition))
	fmt.Println("error", wrong.StatusCode(), wrong.JSON422.Code, len(*wrong.JSON422.Violations) > 0)
}
