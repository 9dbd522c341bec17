package main

import (
	"encoding/json"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"palmares/internal/account"
	"palmares/internal/store"
)

type accountCommand struct {
	Create accountCreate `cmd:"" help:"Create an account."`
	List   accountList   `cmd:"" help:"List the accounts."`
	Plan   accountPlan   `cmd:"" help:"Change the plan of an account."`
	Delete accountDelete `cmd:"" help:"Delete an account and its keys."`
}

type plan account.Plan

// UnmarshalText reads a plan.
func (p *plan) UnmarshalText(b []byte) error {
	parsed, err := account.ParsePlan(string(b))
	if err != nil {
		return &refusedValue{err.Error()}
	}
	*p = plan(parsed)
	return nil
}

type accountCreate struct {
	Email string `arg:"" help:"The address of its owner."`
	Plan  plan   `help:"developer or pro." default:"developer" env:"PALMARES_PLAN"`
}

// Run creates an account and prints it.
func (c *accountCreate) Run(s *session) error {
	return s.withStore(func(st *store.Store) error {
		a, err := st.Accounts.Create(s.ctx, c.Email, account.Plan(c.Plan), s.now())
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(s.stdout, "%s  %s  %s\n", a.ID, a.Email, a.Plan)
		return err
	})
}

type accountList struct {
	JSON bool `name:"json" help:"Print JSON lines." env:"PALMARES_JSON"`
}

// Run lists the accounts.
func (c *accountList) Run(s *session) error {
	return s.withStore(func(st *store.Store) error {
		accounts, err := st.Accounts.List(s.ctx)
		if err != nil {
			return err
		}
		t := newTable(s.stdout, c.JSON, "id", "email", "plan", "created_at")
		for _, a := range accounts {
			t.row(a.ID, a.Email, string(a.Plan), moment(a.CreatedAt))
		}
		return t.flush()
	})
}

type accountPlan struct {
	Email string `arg:"" help:"The address of its owner."`
	Plan  plan   `arg:"" help:"developer or pro."`
}

// Run changes a plan.
func (c *accountPlan) Run(s *session) error {
	return s.withStore(func(st *store.Store) error {
		if err := st.Accounts.SetPlan(s.ctx, c.Email, account.Plan(c.Plan), s.now()); err != nil {
			return err
		}
		_, err := fmt.Fprintf(s.stdout, "%s is on the plan %s\n", c.Email, c.Plan)
		return err
	})
}

type accountDelete struct {
	Email string `arg:"" help:"The address of its owner."`
}

// Run deletes an account.
func (c *accountDelete) Run(s *session) error {
	return s.withStore(func(st *store.Store) error {
		if err := st.Accounts.Delete(s.ctx, c.Email); err != nil {
			return err
		}
		_, err := fmt.Fprintf(s.stdout, "%s is deleted, with its keys\n", c.Email)
		return err
	})
}

// A table prints records for people, or as JSON lines for programs.
type table struct {
	columns []string
	text    *tabwriter.Writer
	json    *json.Encoder
	err     error
}

func newTable(out io.Writer, asJSON bool, columns ...string) *table {
	t := &table{columns: columns}
	if asJSON {
		t.json = json.NewEncoder(out)
		t.json.SetEscapeHTML(false)
		return t
	}
	t.text = tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	return t
}

func (t *table) row(values ...string) {
	if t.err != nil {
		return
	}
	if t.json != nil {
		record := make(map[string]*string, len(values))
		for i, v := range values {
			record[t.columns[i]] = &v
			if v == "" {
				record[t.columns[i]] = nil
			}
		}
		t.err = t.json.Encode(record)
		return
	}
	for i, v := range values {
		sep := "\t"
		if i == len(values)-1 {
			sep = "\n"
		}
		if v == "" {
			v = "-"
		}
		if _, err := io.WriteString(t.text, v+sep); err != nil {
			t.err = err
		}
	}
}

func (t *table) flush() error {
	if t.err == nil && t.text != nil {
		t.err = t.text.Flush()
	}
	return t.err
}

// moment writes a time for a table, "" for one that has not come.
func moment(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}
