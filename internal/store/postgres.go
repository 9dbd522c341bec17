package store

import (
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
)

// maxConnections is what one node takes of the server's hundred (its default):
// requests are answered from memory, so that few queries run at once.
const maxConnections = 10

func (s *Store) openPostgres(dsn string) error {
	s.postgres = true
	cfg, err := pgx.ParseConfig(dsn)
	if err != nil {
		// The error is not passed on: it may repeat the URL, and the password with it.
		return problem(ErrUnreachable, nil, "the postgres:// URL cannot be read: write it as postgres://USER:PASSWORD@HOST:PORT/NAME, special characters in the password percent-encoded")
	}
	if cfg.ConnectTimeout == 0 {
		cfg.ConnectTimeout = 10 * time.Second
	}
	if cfg.RuntimeParams["application_name"] == "" {
		cfg.RuntimeParams["application_name"] = "palmares"
	}
	s.name = fmt.Sprintf("the PostgreSQL database %q on %s:%d", cfg.Database, cfg.Host, cfg.Port)
	s.reads = stdlib.OpenDB(*cfg)
	s.reads.SetMaxOpenConns(maxConnections)
	s.reads.SetMaxIdleConns(maxConnections)
	s.reads.SetConnMaxIdleTime(5 * time.Minute)
	s.writes = s.reads
	return nil
}
