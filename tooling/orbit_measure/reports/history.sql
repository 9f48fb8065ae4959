-- What a replay notes: an edit for each file of each commit, and the records that the commit cites.

CREATE TABLE steps (
    step BIGINT,             -- the position of the commit, the oldest first
    files BIGINT,
    scoped BIGINT            -- records that could be shown before it, with a path in their scope
);

CREATE TABLE edits (
    length BIGINT,           -- how many commits in a row are one session
    step BIGINT,
    shown BIGINT,            -- records
    tokens BIGINT
);

-- In sessions of one commit. A record of which something was shown is not left out.
CREATE TABLE shown (step BIGINT, uid VARCHAR);
CREATE TABLE left_out (step BIGINT, uid VARCHAR, reason VARCHAR);

-- The records whose scope has a file of the commit.
CREATE TABLE applied (step BIGINT, uid VARCHAR);

CREATE TABLE cited (
    step BIGINT,
    uid VARCHAR,
    by_id BOOLEAN,           -- by its id, not by its task alone
    could BOOLEAN,           -- it could be shown before the commit
    has_scope BOOLEAN        -- it could, and its scope named a path
);

-- The records that could be shown at some time, in the order of lists.
CREATE TABLE records (uid VARCHAR, position BIGINT, id VARCHAR, title VARCHAR, has_scope BOOLEAN);

-- Commits with files, by how many of them are one session.
CREATE VIEW commits AS
SELECT length, step, sum(shown)::BIGINT AS shown, sum(tokens)::BIGINT AS tokens
FROM edits
GROUP BY length, step;

CREATE MACRO spread(number) AS {
    total: coalesce(sum(number), 0)::BIGINT,
    mean: mean(sum(number), count(*)),
    mean_speaking: mean(sum(number), count(*) FILTER (number > 0)),
    p50: coalesce(quantile_disc(number, 0.5), 0),
    p90: coalesce(quantile_disc(number, 0.9), 0),
    p99: coalesce(quantile_disc(number, 0.99), 0),
    most: coalesce(max(number), 0)
};
