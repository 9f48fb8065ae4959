-- The tables of a lake: the only place that names their columns. A push writes rows of these tables as Parquet; a file
-- that lacks a column, because an older version wrote it, has NULL there. Only add columns: never rename one, and never
-- change a type. Every row names its repository and the push that wrote it. A record's rows are written together: the
-- newest push that has the record decides, and `removed` says that the record is gone.

CREATE TABLE lake_records (
    repository VARCHAR,
    sequence BIGINT,
    removed BOOLEAN,
    digest VARCHAR,
    record_id VARCHAR,
    uid VARCHAR,
    kind VARCHAR,
    title VARCHAR,
    status VARCHAR,
    phase VARCHAR,
    project VARCHAR,
    feature VARCHAR,
    category VARCHAR,
    date VARCHAR,
    summary VARCHAR,
    body VARCHAR,
    priority INTEGER,
    confidence VARCHAR,
    path VARCHAR,
    source_path VARCHAR,
    author VARCHAR,
    author_role VARCHAR,
    author_model VARCHAR,
    created_at TIMESTAMP,
    updated_at TIMESTAMP,
    title_key VARCHAR,
    text_key VARCHAR,
    negated BOOLEAN,
    data VARCHAR
);

CREATE TABLE lake_scopes (
    repository VARCHAR,
    sequence BIGINT,
    record_id VARCHAR,
    axis VARCHAR,
    value VARCHAR,
    position INTEGER,
    "exclude" BOOLEAN,
    anchor_kind VARCHAR,
    anchor VARCHAR,
    extension VARCHAR,
    depth INTEGER,
    regex VARCHAR
);

CREATE TABLE lake_links (
    repository VARCHAR,
    sequence BIGINT,
    record_id VARCHAR,
    rel VARCHAR,
    target VARCHAR,
    target_id VARCHAR,
    derived BOOLEAN,
    reason VARCHAR
);

CREATE TABLE lake_votes (
    repository VARCHAR,
    sequence BIGINT,
    record_id VARCHAR,
    voter_model VARCHAR,
    task_id VARCHAR,
    voted_at TIMESTAMP
);

CREATE TABLE lake_rejected (
    repository VARCHAR,
    sequence BIGINT,
    record_id VARCHAR,
    position INTEGER,
    option VARCHAR,
    reason VARCHAR,
    option_key VARCHAR
);
