-- Makes search(text), which adds what the terms of a text weigh, as search/index.py does.

CREATE VIEW search_terms AS
SELECT t.term, t.record_id, t.part, round(w.worth * t.count / (t.count + @k1@ * (1 - @b@ + @b@ * t.length / n.length)), 6) AS weight
FROM (SELECT record_id, part, length, unnest(terms) AS term, unnest(counts) AS count FROM search_texts) AS t
JOIN (SELECT DISTINCT term, worth FROM search_words WHERE term <> '') AS w ON w.term = t.term
CROSS JOIN (SELECT coalesce(nullif(avg(length), 0), 1) AS length FROM search_texts) AS n;

-- The parts of a word, with blanks between them: HTTPHeader and http2 part, APIs does not.
CREATE OR REPLACE MACRO word_parts(name) AS replace(regexp_replace(regexp_replace(regexp_replace(regexp_replace(
    regexp_replace(regexp_replace(
        name, '([@unspaced@]+)', ' \1 ', 'g'), '([A-Z]{2,})s([^a-z]|$)', '\1$ \2', 'g'),
    '([^ ])(\p{Lu}\p{Ll})', '\1 \2', 'g'), '(\p{Ll})(\p{Lu})', '\1 \2', 'g'),
    '([^\p{Nd} ])(\p{Nd})', '\1 \2', 'g'), '(\p{Nd})([^\p{Nd} ])', '\1 \2', 'g'), '$', 's'); -- codespell:ignore nd

-- A word in lower case without accents, as hook/words.py folds it.
CREATE OR REPLACE MACRO folded(word) AS CASE
    WHEN regexp_full_match(word, '[\p{Latin}\p{Greek}\p{Cyrillic}\p{Nd}\x{0300}-\x{036f}]*') -- codespell:ignore nd
    THEN replace(replace(replace(replace(replace(replace(replace(
        strip_accents(word), 'ß', 'ss'), 'æ', 'ae'), 'œ', 'oe'), 'ø', 'o'), 'đ', 'd'), 'ł', 'l'), 'ı', 'i')
    ELSE word
END;

CREATE OR REPLACE MACRO search(said) AS TABLE
WITH parts AS (
    SELECT unnest(CASE
        WHEN regexp_full_match(w.word, '[0-9a-f]{7,64}') AND regexp_matches(w.word, '[0-9].*[a-f]|[a-f].*[0-9]') THEN [w.word]
        ELSE string_split(word_parts(w.word), ' ')
    END) AS part
    FROM (SELECT unnest(regexp_extract_all(nfc_normalize(said), '[\p{L}\p{N}@marks@]+')) AS word) AS w
), words AS (
    SELECT left(folded(lower(p.part)), @longest@) AS word
    FROM parts AS p WHERE p.part <> '' AND NOT regexp_matches(p.part, '^[@unspaced@]')
    UNION
    SELECT substr(p.part, p.place, 2)
    FROM (
        SELECT q.part, unnest(generate_series(1, greatest(length(q.part) - 1, 1))) AS place
        FROM parts AS q WHERE regexp_matches(q.part, '^[@unspaced@]')
    ) AS p
), asked AS ( -- an unknown word is one that it begins with and a usual ending, else worth what the empty word is
    SELECT DISTINCT CASE l.known WHEN '' THEN l.word ELSE l.term END AS term, l.worth
    FROM (
        SELECT w.word, arg_max(s.word, length(s.word)) AS known, arg_max(s.term, length(s.word)) AS term,
            arg_max(s.worth, length(s.word)) AS worth
        FROM words AS w
        JOIN search_words AS s ON s.word IN (w.word, '') OR (
            starts_with(w.word, s.word) AND length(s.word) > 2
            AND regexp_full_match(substr(w.word, length(s.word) + 1), '@endings@')
        )
        GROUP BY w.word
    ) AS l
), names AS (
    SELECT r.id AS name, r.id FROM records AS r
    UNION ALL
    SELECT l.legacy_id, l.record_id FROM legacy_ids AS l WHERE l.legacy_id NOT IN (SELECT r.id FROM records AS r)
    UNION ALL
    SELECT regexp_replace(r.id, '.*-0*([0-9]+)', '#\1'), r.id
    FROM records AS r WHERE regexp_full_match(r.id, '[A-Z][A-Z0-9]*-[0-9]{4,9}')
    UNION ALL
    SELECT regexp_replace(lower(r.id), '-0*([0-9]+)$', '-\1'), r.id FROM records AS r
), found AS (
    SELECT t.record_id AS id, sum(t.weight) / (SELECT sum(a.worth) FROM asked AS a) AS score
    FROM search_terms AS t JOIN asked AS a ON a.term = t.term
    GROUP BY t.record_id, t.part
    UNION ALL
    SELECT n.id, 1 FROM names AS n
    WHERE n.name IN (trim(said, ' @edges@'), regexp_replace(trim(said, ' @edges@'), '^#?0*([0-9]+)$', '#\1')) OR (
        contains(n.name, '-') AND n.name IN (
            SELECT unnest([w.word, regexp_replace(lower(w.word), '-0*([0-9]+)$', '-\1')])
            FROM (SELECT trim(unnest(regexp_extract_all(said, '\S+')), '@edges@') AS word) AS w
        )
    )
), current AS ( -- what took the place of a closed record is found by its text
    SELECT coalesce(n.successor_id, o.id) AS id, o.score
    FROM found AS o LEFT JOIN successors AS n ON n.record_id = o.id
)
SELECT
    f.id, max(f.score) AS score, any_value(coalesce(r.title, s.title)) AS title,
    any_value(coalesce(r.kind, 'skill')) AS kind, any_value(coalesce(r.status, 'active')) AS status,
    any_value(coalesce(r.path, s.path)) AS path
FROM current AS f
LEFT JOIN records AS r ON r.id = f.id
LEFT JOIN skills AS s ON s.path = f.id
LEFT JOIN vote_scores((SELECT m.value::DOUBLE FROM meta AS m WHERE m.name = 'half_life_days')) AS v ON v.record_id = f.id
WHERE coalesce(r.searched, s.path IS NOT NULL)
GROUP BY f.id
ORDER BY score DESC, max(v.rank_key) DESC NULLS LAST, max(r.priority) DESC, max(r.updated_at) DESC NULLS LAST, f.id;
