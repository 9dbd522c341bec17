package main

import (
	"palmares/internal/account"
	"palmares/internal/deskdb"
	"palmares/internal/node"
)

type editorCommand struct {
	Add    editorAdd    `cmd:"" help:"Add somebody, or change the name and the role."`
	List   editorList   `cmd:"" help:"List who may write."`
	Remove editorRemove `cmd:"" help:"Remove somebody; what was begun stays, for editors."`
}

type editorAdd struct {
	Email string `arg:"" help:"E-mail address to sign in with."`
	Name  string `help:"What is published is signed with it." required:""`
	Role  role   `help:"author: writes, shares, asks for review. editor: also publishes." required:""`
}

// role is what somebody may do at the desk.
type role account.Role

func (r *role) UnmarshalText(b []byte) error {
	return readInto((*account.Role)(r), b, account.ParseRole)
}

func (c *editorAdd) Run(inv *invocation) error {
	return inv.withStore(func(st *node.Database) error {
		e, err := st.Editors.Add(inv.ctx, deskdb.Editor{Email: c.Email, Name: c.Name, Role: account.Role(c.Role)}, inv.now())
		return inv.result(err, "%s  %s  %s\n", e.Email, e.Name, e.Role)
	})
}

type editorList struct {
	JSON bool `name:"json" help:"Print JSON lines."`
}

func (c *editorList) Run(inv *invocation) error {
	return inv.withExisting(func(st *node.Database) error {
		editors, err := st.Editors.List(inv.ctx)
		t := newTable(inv.stdout, c.JSON, "email", "name", "role", "added_at")
		for _, e := range editors {
			t.row(e.Email, e.Name, string(e.Role), timestamp(e.AddedAt))
		}
		return t.flush(err)
	})
}

type editorRemove struct {
	Email string `arg:"" help:"E-mail address, from editor list."`
}

func (c *editorRemove) Run(inv *invocation) error {
	return inv.withExisting(func(st *node.Database) error {
		return inv.result(st.Editors.Remove(inv.ctx, c.Email), "%s is removed\n", c.Email)
	})
}
