package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"time"

	"palmares/internal/api"
	"palmares/internal/content"
	"palmares/internal/desk"
	"palmares/internal/edition"
	"palmares/internal/evidence"
	"palmares/internal/preview"
)

type previewCommand struct {
	languageOption `embed:""`
	Dir            string `arg:"" help:"Content folder."`
	Listen         string `help:"Address to listen on, on this machine: others are not answered." default:"localhost:8081"`
}

// Run shows a folder, drafts included, until the context ends.
func (c *previewCommand) Run(inv *invocation) error {
	c.speak(inv)
	root, err := content.Open(c.Dir) // a folder that vanishes later is waited for
	if err != nil {
		return err
	}
	defer root.Close()
	listener, err := listen(c.Listen, "--listen")
	if err != nil {
		return err
	}
	defer listener.Close() // the server closes it too; this is for failures before it runs
	if at, ok := listener.Addr().(*net.TCPAddr); !ok || !at.IP.IsLoopback() {
		return fmt.Errorf("the preview cannot listen on %s: other machines would see drafts; "+
			"choose an address of this machine with --listen, such as localhost:8081", c.Listen)
	}
	ctx, cancel := context.WithCancel(inv.ctx)
	defer cancel()
	log := slog.New(slog.NewTextHandler(inv.stderr, nil))
	p := preview.New(ctx, preview.Config{
		Dir: c.Dir, Document: api.Document(), Now: inv.now, Log: log,
		Language: inv.language,
	})
	base, own := string(deriveBaseURL(listener.Addr())), desk.NewLocal(root)
	editions := edition.New(edition.Config{
		Folder: func() fs.FS { return own.With(nil) }, Document: api.Document(), BaseURL: base, Now: inv.now,
	})
	defer editions.Close()
	p.Mount("/redaction", desk.New(desk.Config{
		Folder: own, Copies: own, Visitor: own.Visitor, Editions: editions, Site: p.Site(), BaseURL: base, Now: inv.now, Log: log,
		Reader: evidence.ReaderConfig{Agent: "Palmares/" + version, Spacing: 2 * time.Second},
	}))
	// Requests end with the context: streams of events would last for ever.
	server := &http.Server{
		Handler: p, ReadHeaderTimeout: 10 * time.Second, BaseContext: func(net.Listener) context.Context { return ctx },
	}
	watching := make(chan error, 1)
	go func() {
		watching <- p.Run(ctx)
		_ = server.Close() // Serve returns the error that matters
	}()
	if err := inv.printf("%s\n", inv.say("preview-began", c.Dir, p.Address(base+"/"), p.Address(base+"/redaction"))); err != nil {
		return err
	}
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return <-watching
}
