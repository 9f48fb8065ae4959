-- The index of the site's search. `documents` are records by number, best first where words are equal; `postings` say which
-- words they have: one in a title counts four times, one in the sentence twice, and half in a record that is closed. A
-- reader's browser splits words as this does.

CREATE TEMPORARY TABLE documents AS
SELECT
    row_number() OVER (ORDER BY phase <> 'live', date DESC, repository, id) - 1 AS number,
    repository, id, kind, title, status, phase, COALESCE(sentence, '') AS sentence, body,
    CASE WHEN phase = 'closed' THEN 1 ELSE 2 END AS counts
FROM records
WHERE NOT is_copy AND kind IN ('adr', 'rule', 'learning') AND json_valid(data);

CREATE TEMPORARY MACRO terms(text) AS list_distinct(regexp_extract_all(
    lower(strip_accents(text)),
    '[\x{3040}-\x{30ff}\x{3400}-\x{9fff}\x{ac00}-\x{d7af}]|[\p{L}\p{N}]{2,40}'
));

CREATE TEMPORARY TABLE postings AS
SELECT term, number, max(weight) AS weight
FROM (
    SELECT unnest(terms(concat_ws(' ', id, repository, title))) AS term, number, 4 * counts AS weight FROM documents
    UNION ALL
    SELECT unnest(terms(sentence)), number, 2 * counts FROM documents
    UNION ALL
    SELECT unnest(terms(body)), number, counts FROM documents
)
GROUP BY term, number;

-- A word that a third of many records has says nothing.
CREATE TEMPORARY TABLE telling AS
SELECT term, list([number, weight] ORDER BY number) AS hits
FROM postings
GROUP BY term
HAVING count(*) <= greatest(200, (SELECT count(*) FROM documents) / 3);
