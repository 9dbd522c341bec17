package reference

import (
	"slices"

	"palmares/internal/markdown"
	"palmares/internal/web"
)

// errorCodes returns the error codes that /api returns, in the order of their status.
func errorCodes() []web.CodeInfo {
	list := slices.DeleteFunc(slices.Clone(web.Codes), func(c web.CodeInfo) bool { return c.Meaning == "" || c.Dataset })
	for i := range list {
		list[i].Meaning, list[i].Fix = markdown.NoBreak(list[i].Meaning), markdown.NoBreak(list[i].Fix)
	}
	return list
}
