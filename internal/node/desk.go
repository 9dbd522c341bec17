package node

import (
	"context"
	"io/fs"
	"net/http"
	"time"

	"palmares/internal/accountsite"
	"palmares/internal/api"
	"palmares/internal/catalog"
	"palmares/internal/desk"
	"palmares/internal/edition"
	"palmares/internal/evidence"
	"palmares/internal/vault"
	"palmares/internal/worktree"
)

// openDesk returns the pages of the desk, nil without one. Its folder is closed after the server. If the folder
// cannot be used, the pages say so, and the site is served.
func (n *node) openDesk(accounts *accountsite.Handler, sealer vault.Sealer) http.Handler {
	if n.cfg.Desk == "" {
		return nil
	}
	cfg := desk.Config{
		Copies: n.store.Copies, Editors: n.store.Editors, Shares: n.store.Shares, Reports: n.store.Reports.Sealed(sealer),
		Readership: n.store.Readership, Catalogue: n.store.Catalogue, Site: n.pages,
		Reader:  evidence.ReaderConfig{Agent: "Palmares/" + n.cfg.Version, Spacing: 2 * time.Second},
		Visitor: desk.Guests(accounts, n.store.Editors), BaseURL: n.cfg.BaseURL, Now: n.cfg.Now, Log: n.log,
	}
	folder, err := worktree.Open(n.ctx, worktree.Config{Dir: n.cfg.Desk, Store: n.store.catalogue, Now: n.cfg.Now, Log: n.log})
	n.metrics.Flag("palmares_desk_up", "1 if the folder of the desk could be used when the server started.",
		func() bool { return err == nil })
	if err != nil {
		n.log.Error("the desk is closed, as its folder cannot be used; correct that and restart", "error", err)
		return desk.New(cfg)
	}
	if err := folder.Recover(n.ctx); err != nil { // the next publication tries again
		n.log.Error("what the desk had begun to publish cannot be finished now", "error", err)
	}
	if err := desk.EndPublished(n.ctx, folder, n.store.Copies); err != nil { // they stay, and can be deleted
		n.log.Error("working copies that were published could not be deleted", "error", err)
	}
	editions := edition.New(edition.Config{
		Folder:   func() fs.FS { return folder.With(nil) },
		Document: api.Document(), BaseURL: n.cfg.BaseURL, Now: n.cfg.Now, Known: n.store.Pictures.Known, Published: n.store.Pictures,
		Catalog: func() *catalog.Catalog { return n.pages.Snapshot().Catalog },
	})
	n.run(func(ctx context.Context) error {
		folder.Run(ctx)
		editions.Close()
		return folder.Close()
	})
	cfg.Folder, cfg.Editions = folder, editions
	return desk.New(cfg)
}
