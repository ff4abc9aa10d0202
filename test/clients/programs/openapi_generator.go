// The client of openapi-generator's go; the package `cdr` is generated beside this file.
package main

import (
	"context"
	"encoding/json"
	"errors"
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

// What was read of an answer, and the answer itself.
func both[Value any](value *Value, response *http.Response, err error) (*Value, *http.Response) {
	return must(value, err), response
}

func only[Value any](value *Value, _ *http.Response, err error) *Value {
	return must(value, err)
}

func uidOf(response *http.Response) string {
	return strings.Trim(response.Header.Get("ETag"), `"`)
}

func main() {
	ctx := context.Background()
	configuration := cdr.NewConfiguration()
	configuration.Servers = cdr.ServerConfigurations{{URL: os.Getenv("CDR")}}
	client := cdr.NewAPIClient(configuration)

	opt := must(os.ReadFile(os.Getenv("OPT")))
	_, upload, _ := client.TEMPLATEAPI.TemplateAdl14Upload(ctx).Body(string(opt)).Execute()
	fmt.Println("template", upload.StatusCode)

	_, created := both(client.EHRAPI.EhrCreate(ctx).Execute())
	ehr := uidOf(created)
	fmt.Println("ehr", ehr)

	composition := only(client.TEMPLATEAPI.TemplateAdl14Example(ctx, os.Getenv("TEMPLATE")).Execute())
	commit := client.COMPOSITIONAPI.CompositionCreate(ctx, ehr).COMPOSITION(*composition)
	_, minimal := both(commit.Execute())
	fmt.Println("minimal", uidOf(minimal))

	whole := only(commit.Prefer("return=representation").Execute())
	fmt.Println("whole", whole.COMPOSITION.Uid.OBJECTVERSIONID.Value)

	uid, _, _ := strings.Cut(uidOf(minimal), "::")
	found := only(client.COMPOSITIONAPI.CompositionGet(ctx, ehr, uid).Execute())
	fmt.Println("read", found.RmType, found.ArchetypeDetails.TemplateId.Value)

	found.Territory.CodeString = "GB"
	change := client.COMPOSITIONAPI.CompositionUpdate(ctx, ehr, uid).COMPOSITION(*found)
	_, corrected := both(change.IfMatch(fmt.Sprintf("%q", uidOf(minimal))).Execute())
	fmt.Println("corrected", uidOf(corrected))

	query := "SELECT c/uid/value AS uid FROM EHR e[ehr_id/value='" + ehr + "'] CONTAINS COMPOSITION c"
	asked := client.QUERYAPI.QueryExecuteAdhocPost(ctx).QueryRequest(*cdr.NewQueryRequest(query + " LIMIT 5"))
	result := only(asked.Execute())
	fmt.Println("rows", len(result.Rows), result.Columns[0].Name)

	name := "org.example::compositions_of_go"
	// It says that the text is JSON.
	text := must(json.Marshal(cdr.NewAqlBody(query)))
	only(client.STOREDQUERYAPI.QueryStoreVersion(ctx, name, "1.0.0").Body(string(text)).Execute())
	fmt.Println("stored", len(only(client.QUERYAPI.QueryExecuteStored(ctx, name).Execute()).Rows))

	composition.Language.CodeString = "xx"
	_, wrong, err := client.COMPOSITIONAPI.CompositionCreate(ctx, ehr).COMPOSITION(*composition).Execute()
	var told *cdr.GenericOpenAPIError
	if !errors.As(err, &told) {
		panic(err)
	}
	refusal := told.Model().(cdr.Error)
	fmt.Println("error", wrong.StatusCode, refusal.Code, len(refusal.Violations) > 0)
}
