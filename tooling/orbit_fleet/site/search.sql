-- The index of the site's search. `documents` are records by number, best first where words are equal; `postings` say what a
-- term weighs in each, as the core's search weighs it (BM25F), and half in a record that is closed. `named` has the terms of
-- ids and of repositories' names. A reader's browser splits words by the core's script.

CREATE TEMPORARY TABLE documents AS
SELECT
    row_number() OVER (ORDER BY r.phase <> 'live', r.date DESC, r.repository, r.id) - 1 AS number,
    r.repository, r.id, r.kind, r.title, r.status, COALESCE(r.sentence, '') AS sentence,
    CASE WHEN r.phase = 'closed' THEN 0.5 ELSE 1 END AS share, t.terms, t.forms, t.length
FROM records AS r JOIN texts AS t ON t.repository = r.repository AND t.record_id = r.id
WHERE NOT r.is_copy AND r.kind IN ('adr', 'rule', 'learning') AND json_valid(r.data);

CREATE TEMPORARY TABLE postings AS
SELECT c.term, c.number, CAST(100 * c.share * sum(c.n) / (
    sum(c.n) + $k1 * (1 - $b + $b * c.length / (SELECT avg(length) FROM documents))
) AS INTEGER) AS weight
FROM (
    SELECT number, share, length, split_part(pair, ':', 1) AS term, CAST(split_part(pair, ':', 2) AS INTEGER) AS n
    FROM (SELECT number, share, length, unnest(string_split(trim(terms), '  ')) AS pair FROM documents WHERE terms <> '')
    UNION ALL
    SELECT d.number, d.share, d.length, n.term, 4 FROM documents AS d JOIN named AS n ON n.name IN (d.id, d.repository)
) AS c
GROUP BY c.term, c.number, c.share, c.length
ORDER BY c.term, c.number;

-- A word that a third of many records has says nothing.
CREATE TEMPORARY TABLE telling AS
SELECT term
FROM postings
GROUP BY term
HAVING count(*) <= greatest(200, (SELECT count(*) FROM documents) / 3);

CREATE TEMPORARY TABLE forms AS
SELECT split_part(pair, ':', 1) AS word, split_part(pair, ':', 2) AS term
FROM (SELECT DISTINCT unnest(string_split(trim(forms), '  ')) AS pair FROM documents WHERE forms <> '')
WHERE split_part(pair, ':', 2) IN (FROM telling);

-- The files of the index, one for all words that begin with the same two letters.
CREATE TEMPORARY VIEW starts AS
SELECT DISTINCT left(word, 2) AS start FROM (SELECT term AS word FROM telling UNION ALL SELECT word FROM forms) ORDER BY 1;

-- The content of a file: what each term weighs in which records, and which term a word has. One at a time: all at once take
-- ten times the memory. `postings` is in the order of terms, so the first condition leaves most of it out.
CREATE TEMPORARY MACRO part(begin) AS TABLE
SELECT to_json({
    terms: (
        SELECT coalesce(map(list(h.term ORDER BY h.term), list(h.hits ORDER BY h.term)), MAP {})
        FROM (
            SELECT p.term, list([p.number, p.weight] ORDER BY p.number) AS hits
            FROM postings AS p
            WHERE p.term BETWEEN begin AND begin || chr(1114111) AND left(p.term, 2) = begin AND p.term IN (FROM telling)
            GROUP BY p.term
        ) AS h
    ),
    words: (
        SELECT coalesce(map(list(f.word ORDER BY f.word), list(f.term ORDER BY f.word)), MAP {})
        FROM forms AS f
        WHERE left(f.word, 2) = begin
    )
})::VARCHAR AS content;
