-- The tables of the snapshot. Times are UTC without a zone; lists are rows.
-- docs/reference/snapshot.md describes each column, and a test holds the two equal.

CREATE TABLE records (
    id VARCHAR NOT NULL,
    uid VARCHAR NOT NULL,
    kind VARCHAR NOT NULL,
    title VARCHAR NOT NULL,
    status VARCHAR NOT NULL,
    phase VARCHAR NOT NULL,
    pushed BOOLEAN NOT NULL,
    searched BOOLEAN NOT NULL,
    shown BOOLEAN NOT NULL,
    inbox BOOLEAN NOT NULL,
    origin VARCHAR,
    project VARCHAR,
    feature VARCHAR,
    category VARCHAR,
    date VARCHAR,
    summary VARCHAR,
    body VARCHAR NOT NULL,
    priority INTEGER NOT NULL,
    confidence VARCHAR,
    procedural BOOLEAN NOT NULL,
    path VARCHAR NOT NULL,
    source_path VARCHAR,
    source_heading VARCHAR,
    source_format VARCHAR,
    source_authority VARCHAR,
    author VARCHAR,
    author_role VARCHAR,
    author_model VARCHAR,
    created_at TIMESTAMP,
    updated_at TIMESTAMP,
    content_hash VARCHAR NOT NULL,
    data VARCHAR NOT NULL
);

CREATE TABLE scope_globs (
    record_id VARCHAR NOT NULL,
    position INTEGER NOT NULL,
    pattern VARCHAR NOT NULL,
    exclude BOOLEAN NOT NULL,
    anchor_kind VARCHAR NOT NULL,
    anchor VARCHAR NOT NULL,
    extension VARCHAR,
    depth INTEGER,
    regex VARCHAR
);

CREATE TABLE tags (
    record_id VARCHAR NOT NULL,
    axis VARCHAR NOT NULL,
    tag VARCHAR NOT NULL
);

CREATE TABLE links (
    record_id VARCHAR NOT NULL,
    rel VARCHAR NOT NULL,
    target VARCHAR NOT NULL,
    target_id VARCHAR,
    derived BOOLEAN NOT NULL
);

CREATE TABLE evidence (
    record_id VARCHAR NOT NULL,
    position INTEGER NOT NULL,
    kind VARCHAR NOT NULL,
    reference VARCHAR NOT NULL
);

CREATE TABLE rejected_options (
    record_id VARCHAR NOT NULL,
    position INTEGER NOT NULL,
    option VARCHAR NOT NULL,
    reason VARCHAR
);

CREATE TABLE legacy_ids (
    legacy_id VARCHAR NOT NULL,
    record_id VARCHAR NOT NULL
);

CREATE TABLE successors (
    record_id VARCHAR NOT NULL,
    successor_id VARCHAR NOT NULL
);

CREATE TABLE votes (
    record_id VARCHAR NOT NULL,
    voter_model VARCHAR NOT NULL,
    task_id VARCHAR NOT NULL,
    voted_at TIMESTAMP NOT NULL
);

CREATE TABLE versions (
    record_id VARCHAR NOT NULL,
    version VARCHAR NOT NULL
);

CREATE TABLE chunks (
    record_id VARCHAR NOT NULL,
    position INTEGER NOT NULL,
    code VARCHAR NOT NULL,
    heading VARCHAR,
    breadcrumb VARCHAR,
    first_line INTEGER NOT NULL,
    last_line INTEGER NOT NULL,
    tokens INTEGER NOT NULL,
    body VARCHAR NOT NULL
);

CREATE TABLE anchors (
    record_id VARCHAR NOT NULL,
    anchor VARCHAR NOT NULL,
    code VARCHAR NOT NULL
);

CREATE TABLE citations (
    path VARCHAR NOT NULL,
    line INTEGER NOT NULL,
    target VARCHAR NOT NULL,
    target_id VARCHAR
);

CREATE TABLE imports (
    path VARCHAR NOT NULL,
    package VARCHAR NOT NULL
);

CREATE TABLE code_citations (
    path VARCHAR NOT NULL,
    record_id VARCHAR NOT NULL,
    cited_id VARCHAR
);

CREATE TABLE freshness (
    record_id VARCHAR NOT NULL,
    position INTEGER NOT NULL,
    volatility VARCHAR,
    expires_at TIMESTAMP,
    verified_at TIMESTAMP,
    verified_by VARCHAR,
    input VARCHAR,
    hash VARCHAR
);

CREATE TABLE freshness_states (
    record_id VARCHAR NOT NULL,
    state VARCHAR NOT NULL,
    cause VARCHAR NOT NULL,
    subject VARCHAR NOT NULL,
    message VARCHAR NOT NULL
);

CREATE TABLE built_states (
    record_id VARCHAR NOT NULL,
    state VARCHAR NOT NULL,
    reason VARCHAR NOT NULL,
    evidence VARCHAR NOT NULL
);

CREATE TABLE reviews (
    record_id VARCHAR NOT NULL,
    review_by VARCHAR,
    due_since VARCHAR,
    reason VARCHAR
);

CREATE TABLE diagnostics (
    code VARCHAR NOT NULL,
    severity VARCHAR NOT NULL,
    path VARCHAR NOT NULL,
    line INTEGER,
    "column" INTEGER,
    record_id VARCHAR,
    message VARCHAR NOT NULL,
    hint VARCHAR
);

CREATE TABLE vote_keys (
    record_id VARCHAR NOT NULL,
    half_life DOUBLE NOT NULL,
    rank_key DOUBLE NOT NULL
);

CREATE TABLE events (
    happened_at TIMESTAMP NOT NULL,
    type VARCHAR NOT NULL,
    record_id VARCHAR,
    surface VARCHAR,
    session VARCHAR,
    data VARCHAR NOT NULL
);

CREATE TABLE skills (
    path VARCHAR NOT NULL,
    title VARCHAR NOT NULL,
    description VARCHAR NOT NULL,
    body VARCHAR NOT NULL
);

CREATE TABLE sources (
    path VARCHAR NOT NULL,
    role VARCHAR NOT NULL,
    inbox BOOLEAN NOT NULL,
    sha256 VARCHAR NOT NULL,
    size BIGINT NOT NULL,
    mtime TIMESTAMP
);

CREATE TABLE meta (
    name VARCHAR NOT NULL,
    value VARCHAR
);

CREATE TABLE search_words (
    word VARCHAR NOT NULL,
    term VARCHAR NOT NULL,
    worth DOUBLE NOT NULL
);

CREATE TABLE search_texts (
    record_id VARCHAR NOT NULL,
    part INTEGER NOT NULL,
    length INTEGER NOT NULL,
    terms VARCHAR[] NOT NULL,
    counts INTEGER[] NOT NULL,
    words VARCHAR[] NOT NULL,
    stems VARCHAR[] NOT NULL
);
