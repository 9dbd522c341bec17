package main

import (
	"strings"
	"testing"
)

func TestAnOptionOrCommandThatIsGoneIsAnsweredWithWhatToUseInstead(t *testing.T) {
	for _, test := range []struct{ variable, line, want string }{
		{"", "serve --mirror https://catalogue.example", "Litestream"},
		{"", "serve --listen localhost:0 --mirror=https://catalogue.example", "PostgreSQL"},
		{"PALMARES_MIRROR", "serve", "Litestream"},
		{"", "mirror reset --detach", "Litestream"},
		{"", "--database sqlite:x.db mirror reset", "Litestream"},
		{"", "verify https://catalogue.example", "state"},
		{"", "readership --since 2026-01-01", "/redaction/audience"},
		{"", "serve --export-space 4GiB", "the one before"},
		{"PALMARES_EXPORT_SPACE", "check", "PALMARES_EXPORT_SPACE is set"},
		{"PALMARES_DRY_RUN", "publish cat", "write --dry-run"},
	} {
		t.Run(test.variable+" "+test.line, func(t *testing.T) {
			if test.variable != "" {
				t.Setenv(test.variable, "1")
			}
			var stdout, stderr strings.Builder
			code := run(t.Context(), strings.Fields(test.line), &stdout, &stderr)
			said := stderr.String()
			if code != exitUsage || stdout.Len() > 0 || strings.Count(said, "\n") != 1 ||
				!strings.HasPrefix(said, "palmares: ") || !strings.Contains(said, test.want) || strings.Contains(said, "--help") {
				t.Errorf("exit %d: %s%s", code, &stdout, said)
			}
		})
	}
	t.Setenv("PALMARES_MIRROR", "https://catalogue.example")
	for _, line := range []string{"key create ada@example.org --name mirror", "init verify", "schema -- --mirror"} {
		if said := gone(strings.Fields(line)); said != "" {
			t.Errorf("%s: %s", line, said)
		}
	}
}
