package main

import (
	"io/fs"
	"os"
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
