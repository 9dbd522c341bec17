package main

import (
	"io/fs"
	"os"
	"strings"
	"testing"

	"palmares/starter"
)

func TestTheWorkflowInDeployIsTheOneThatInitWrites(t *testing.T) {
	deployed, err := os.ReadFile("../../deploy/github-workflow.yaml")
	if err != nil {
		t.Fatal(err)
	}
	written, err := fs.ReadFile(starter.Folder(), ".github/workflows/catalogue.yaml")
	if err != nil || string(written) != string(deployed) {
		t.Errorf("copy one over the other (%v)", err)
	}
}

func TestTheDocumentsAndTheWorkflowNameTheVersionOfTheSource(t *testing.T) {
	for name, want := range map[string]string{
		"deploy/github-workflow.yaml": "PALMARES_VERSION: " + version + " ",
		"README.md":                   "palmares_" + version + "_amd64.deb",
		"CHANGELOG.md":                "\n## " + version + "\n",
	} {
		text, err := os.ReadFile("../../" + name)
		if err != nil || !strings.Contains(string(text), want) {
			t.Errorf("%s does not have %q (%v)", name, want, err)
		}
	}
}
