package catalogdb

import (
	"context"
	"fmt"
	"os"
	"os/exec"
)

// Some tests need other processes: killed ones, ones of another user, many at once. They
// run their own binary again as one of these children.
var children = map[string]func(){
	"publish": publishChild,
	"advance": func() {
		s, err := openDB(context.Background(), os.Getenv("PALMARES_STORE_DSN"))
		if err == nil {
			err = advanceChild(context.Background(), s)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	},
}

// childCommand returns a command that runs this binary as a child.
func childCommand(child, dsn string) *exec.Cmd {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "PALMARES_STORE_CHILD="+child, "PALMARES_STORE_DSN="+dsn)
	return cmd
}

// publishChild publishes one version of killed after another and prints a line for every
// step, until it is killed.
func publishChild() {
	fail := func(err error) {
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	ctx := context.Background()
	s, err := openDB(ctx, os.Getenv("PALMARES_STORE_DSN"))
	fail(err)
	for {
		published, err := version(ctx, s)
		fail(err)
		v := int(published) + 1
		_, err = s.Catalogue.Publish(ctx, killed(v), PublishOptions{Now: at(day(v)), Progress: func(p Progress) {
			_, err := fmt.Println(v, p.Stage, p.Done)
			fail(err)
		}})
		fail(err)
	}
}
