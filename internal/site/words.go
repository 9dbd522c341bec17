package site

import (
	"cmp"
	"html/template"
	"strings"

	"palmares/internal/catalog"
	"palmares/internal/markdown"
)

// words are the names that pages use for the figures and the audiences of tools: ours, or the
// publisher's own.
type words struct {
	figures   map[string]string      // by field
	audiences map[catalog.ICP]string // nil if no page says who a tool is for
	everybody string                 // the choice of tools that are for all
	own       catalog.Labels
	inDocs    *strings.Replacer // says beside our words those of the publisher
}

func newWords(s *catalog.Settings) words {
	w := words{
		figures: map[string]string{"verifiability": "Vérifiabilité", "obsolescence": "Obsolescence"},
		audiences: map[catalog.ICP]string{
			"vibe-coder": "Vibe coders", "agentic-engineer": "Agentic engineers", catalog.EveryICP: "Vibe coders et agentic engineers",
		},
		everybody: "Les deux profils", inDocs: strings.NewReplacer(),
	}
	if len(s.Labels) == 0 {
		return w
	}
	w.own = s.Labels[0]
	var known []string
	for field, own := range map[string]string{"verifiability": w.own.Verifiability, "obsolescence": w.own.Obsolescence} {
		if own != "" {
			own = markdown.NoBreak(own)
			known = append(known, w.figures[field]+" ", w.figures[field]+" («\u00a0"+template.HTMLEscapeString(own)+"\u00a0» sur ce site) ")
			w.figures[field] = own
		}
	}
	switch {
	case w.own.ICP == catalog.ICPHide:
		w.audiences = nil
	case w.ownAudiences():
		first, second := cmp.Or(w.own.VibeCoder, w.audiences["vibe-coder"]), cmp.Or(w.own.AgenticEngineer, w.audiences["agentic-engineer"])
		w.everybody = markdown.NoBreak(cmp.Or(w.own.Mixed, first+" et "+second))
		w.audiences = map[catalog.ICP]string{
			"vibe-coder": markdown.NoBreak(first), "agentic-engineer": markdown.NoBreak(second), catalog.EveryICP: w.everybody,
		}
		known = append(known, "crée sans écrire de code", template.HTMLEscapeString(first), "conçoit avec des agents", template.HTMLEscapeString(second))
	}
	w.inDocs = strings.NewReplacer(known...)
	return w
}

// ownAudiences reports whether the publisher has names of her own for audiences.
func (w *words) ownAudiences() bool { return w.own.VibeCoder+w.own.AgenticEngineer+w.own.Mixed != "" }

// audienceDifference says whom another tool is for, unless it is for the same.
func (w *words) audienceDifference(mine, other catalog.ICP) string {
	inText := map[catalog.ICP]string{"vibe-coder": "vibe coders", "agentic-engineer": "agentic engineers"}
	switch {
	case mine == other || mine == "" || other == "" || w.audiences == nil:
		return ""
	case w.ownAudiences():
		return "Pour qui\u00a0: " + w.audiences[other] + " plutôt que " + w.audiences[mine]
	case other == catalog.EveryICP:
		return "Vise les deux profils"
	case mine == catalog.EveryICP:
		return "Vise les seuls " + inText[other]
	}
	return "Vise les " + inText[other] + " plutôt que les " + inText[mine]
}
