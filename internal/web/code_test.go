package web_test

import (
	"fmt"
	"net/http"
	"os"
	"regexp"
	"testing"

	"palmares/internal/web"
)

func TestTheTableOfCodesIsSortedAndHasEachOnce(t *testing.T) {
	seen := map[web.Code]bool{}
	status := 0
	for _, c := range web.Codes {
		if seen[c.Code] || c.Status < status || http.StatusText(c.Status) == "" {
			t.Errorf("%s, %d: twice, out of order or without a status", c.Code, c.Status)
		}
		if (c.Meaning == "") != (c.Fix == "") {
			t.Errorf("%s has only half an explanation", c.Code)
		}
		seen[c.Code], status = true, c.Status
	}
}

func TestEveryCodeIsExplainedToCallers(t *testing.T) {
	doc, err := os.ReadFile("../../docs/api.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range web.Codes {
		if c.Meaning == "" || c.Code == web.CodePlanRequired { // which only webhooks return
			continue
		}
		row := regexp.MustCompile(fmt.Sprintf("(?m)^\\| %d \\| [^|]*`%s`", c.Status, c.Code))
		if !row.Match(doc) {
			t.Errorf("docs/api.md has no row for %d %s", c.Status, c.Code)
		}
	}
}
