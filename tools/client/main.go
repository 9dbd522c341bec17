// Command client calls a running server with the Go clients that oapi-codegen generates
// from its OpenAPI documents, in the packages api, dataapi and webhookapi, which exist
// only where tools/interop/run generates them:
//
//	client URL KEY
//
// The key is that of a Pro account. It prints what it found, one line per API.
package main

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"os"

	"palmares/tools/client/api"
	"palmares/tools/client/dataapi"
	"palmares/tools/client/webhookapi"
)

func main() {
	log.SetFlags(0)
	ctx, url := context.Background(), os.Args[1]
	authorize := func(_ context.Context, r *http.Request) error {
		r.Header.Set("Authorization", "Bearer "+os.Args[2])
		return nil
	}
	tools, err := api.NewClientWithResponses(url, api.WithRequestEditorFn(authorize))
	check(err)
	readTools(ctx, tools)
	records, err := dataapi.NewClientWithResponses(url, dataapi.WithRequestEditorFn(authorize))
	check(err)
	readChanges(ctx, records)
	readChunks(ctx, records, tools)
	webhooks, err := webhookapi.NewClientWithResponses(url, webhookapi.WithRequestEditorFn(authorize))
	check(err)
	readEvents(ctx, webhooks)
}

func readTools(ctx context.Context, c *api.ClientWithResponses) {
	page, limit := 1, api.LimitParam(3)
	list, err := c.ListToolsWithResponse(ctx, &api.ListToolsParams{Page: &page, Limit: &limit})
	check(err)
	require(list.JSON200 != nil && len(list.JSON200.Data) == 3, "listTools", list.Status())
	best := list.JSON200.Data[0]
	one, err := c.GetToolWithResponse(ctx, best.Slug, nil)
	check(err)
	require(one.JSON200 != nil && one.JSON200.Name == best.Name, "getTool", one.Status())
	unknown, err := c.GetToolWithResponse(ctx, "inconnu", nil)
	check(err)
	require(unknown.JSON404 != nil && unknown.JSON404.Code == "tool_not_found", "getTool of an unknown tool",
		unknown.Status())
	fmt.Println(list.JSON200.Meta.Total, "tools")
}

func readChanges(ctx context.Context, c *dataapi.ClientWithResponses) {
	kind := dataapi.KindFilterParam("outil")
	list, err := c.ListChangesWithResponse(ctx, &dataapi.ListChangesParams{Kind: &kind})
	check(err)
	require(list.JSON200 != nil && !list.JSON200.Meta.More, "listChanges", list.Status())
	first := list.JSON200.Data[0]
	require(first.Record != nil, "listChanges", "the first change has no record")
	tool, err := first.Record.AsRecordOutil()
	check(err)
	require(tool.Slug == first.Slug && tool.Name != nil && *tool.Name != "", "listChanges", "a record without its fields")
	some, err := c.GetRecordsWithResponse(ctx, kind, &dataapi.GetRecordsParams{Slug: []string{first.Slug, list.JSON200.Data[1].Slug}})
	check(err)
	require(some.JSON200 != nil && len(some.JSON200.Data) == 2, "getRecords", some.Status())
	fmt.Println(len(list.JSON200.Data), "changes")
}

func readChunks(ctx context.Context, records *dataapi.ClientWithResponses, tools *api.ClientWithResponses) {
	list, err := records.ListEmbeddingsWithResponse(ctx, nil)
	check(err)
	require(list.JSON200 != nil && len(list.JSON200.Data) > 0, "listEmbeddings", list.Status())
	first := list.JSON200.Data[0]
	chunks, err := tools.GetEmbeddingsWithResponse(ctx, first.Slug, nil)
	check(err)
	require(chunks.JSON200 != nil && len(chunks.JSON200.Chunks) == len(first.Chunks), "getEmbeddings", chunks.Status())
}

func readEvents(ctx context.Context, c *webhookapi.ClientWithResponses) {
	created, err := c.CreateEndpointWithResponse(ctx, nil, webhookapi.EndpointInput{Url: "https://crochets.example/palmares"})
	check(err)
	require(created.JSON201 != nil && created.JSON201.Secret != "", "createEndpoint", created.Status())
	deleted, err := c.DeleteEndpointWithResponse(ctx, created.JSON201.Id)
	check(err)
	require(deleted.StatusCode() == http.StatusNoContent, "deleteEndpoint", deleted.Status())

	limit := 200
	list, err := c.ListEventsWithResponse(ctx, &webhookapi.ListEventsParams{Limit: &limit})
	check(err)
	require(list.JSON200 != nil, "listEvents", list.Status())
	tools := 0
	for _, event := range list.JSON200.Data {
		value, err := event.ValueByDiscriminator()
		check(err)
		if e, ok := value.(webhookapi.ToolCreatedEvent); ok {
			require(e.Data.Object.Slug == e.Data.Slug, e.Id, "it has another tool")
			tools++
		}
	}
	fmt.Println(len(list.JSON200.Data), "events,", tools, "new tools")
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func require(ok bool, what, found string) {
	if !ok {
		log.Fatalf("%s: %s", what, found)
	}
}
