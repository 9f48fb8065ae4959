-- The tables of a lake: the only place that names their columns. A lake has one folder a table, in it one folder a repository
-- (`records/repository=acme%2Fshop/records.parquet`): `repository` is the name of that folder, and no column of the file. A
-- file that lacks a column, because an older version wrote it, has NULL there. Only add columns: never rename one, and never
-- change a type.

CREATE TABLE lake_records (
    record_id VARCHAR,
    digest VARCHAR,
    uid VARCHAR,
    kind VARCHAR,
    title VARCHAR,
    sentence VARCHAR,
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
    url VARCHAR,
    author VARCHAR,
    author_role VARCHAR,
    author_model VARCHAR,
    created_at TIMESTAMP,
    updated_at TIMESTAMP,
    title_key VARCHAR,
    text_key VARCHAR,
    negated BOOLEAN,
    data VARCHAR,
    terms VARCHAR,
    forms VARCHAR,
    "length" INTEGER,
    scopes STRUCT(
        axis VARCHAR, "value" VARCHAR, "position" INTEGER, "exclude" BOOLEAN, anchor_kind VARCHAR, anchor VARCHAR,
        extension VARCHAR, "depth" INTEGER, regex VARCHAR
    )[],
    links STRUCT(rel VARCHAR, target VARCHAR, target_id VARCHAR, derived BOOLEAN, reason VARCHAR)[],
    votes STRUCT(voter_model VARCHAR, task_id VARCHAR, voted_at TIMESTAMP)[],
    rejected STRUCT("position" INTEGER, "option" VARCHAR, reason VARCHAR, option_key VARCHAR)[]
);

CREATE TABLE lake_repositories (
    address VARCHAR,
    origin VARCHAR,
    folder VARCHAR,
    commit VARCHAR,
    committed_at VARCHAR,
    pushed_at VARCHAR,
    first_seen_at VARCHAR,
    last_seen_at VARCHAR,
    records BIGINT,
    digest VARCHAR,
    inputs VARCHAR,
    extends VARCHAR,
    reader VARCHAR,
    orbit_version VARCHAR,
    schema_version INTEGER,
    first_commit VARCHAR,
    forge_id VARCHAR,
    is_fork BOOLEAN,
    is_archived BOOLEAN,
    is_expected BOOLEAN,
    renamed_from VARCHAR,
    error VARCHAR,
    unread_commit VARCHAR,
    source VARCHAR
);
