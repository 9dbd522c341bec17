package main

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"palmares/internal/conform"
	"palmares/internal/problem"
)

type conformCommand struct {
	URL baseURL `arg:"" help:"Address of the server, as in https://catalogue.example."`
	Key string  `help:"API key of a Developer account; without one, what is promised to callers with a key is not tried." env:"PALMARES_CONFORM_KEY" placeholder:"KEY"`
}

// Run prints one line per promise, and fails if one is broken.
func (c *conformCommand) Run(inv *invocation) error {
	tried, wrong := 0, 0
	conform.Run(inv.ctx, conform.Config{
		BaseURL: strings.TrimSuffix(string(c.URL), "/"), Key: c.Key, Client: &http.Client{Timeout: time.Minute},
	}, func(r conform.Result) {
		mark, more := "ok     ", ""
		switch {
		case r.Skipped != "":
			mark, more = "skipped", ": "+r.Skipped
		case r.Err != nil:
			mark, more = "WRONG  ", ": "+message(r.Err, problem.English)
			wrong++
		}
		if r.Skipped == "" {
			tried++
		}
		fmt.Fprintf(inv.stdout, "%s  %s%s\n", mark, r.Promise, more)
	})
	switch {
	case inv.ctx.Err() != nil:
		return inv.ctx.Err()
	case wrong > 0:
		return fmt.Errorf("%d of %d promises are broken", wrong, tried)
	case tried == 0:
		return errors.New("nothing was tried")
	}
	fmt.Fprintf(inv.stdout, "all %d promises that were tried are kept\n", tried)
	return nil
}
