-- The role and the database of Palmarès: psql -f postgresql.sql, once, as a superuser on the
-- primary. Change the password. See docs/postgresql.md.
CREATE ROLE palmares LOGIN PASSWORD 'change-me-4';
CREATE DATABASE palmares OWNER palmares;

-- Nodes ask for these limits when they connect. They are needed here behind PgBouncer, which
-- ignores what nodes ask for.
ALTER ROLE palmares SET statement_timeout = '60s';
ALTER ROLE palmares SET lock_timeout = '5s';
ALTER ROLE palmares SET idle_in_transaction_session_timeout = '60s';
ALTER ROLE palmares SET tcp_keepalives_idle = 10;
ALTER ROLE palmares SET tcp_keepalives_interval = 2;
ALTER ROLE palmares SET tcp_keepalives_count = 5;
ALTER ROLE palmares SET tcp_user_timeout = '20s';
