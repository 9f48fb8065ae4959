-- search(text): what `orbit search` finds, in its order, from the file alone. Terms are those of `search/terms.py`, whose
-- lists `search_macro.py` puts in for @names@, sums those of `search/text_index.py` and `search/fusion.py`; a test over real
-- records holds them equal. No lambdas, whose syntax changed; each word is split and stemmed once, wherever it stands.

-- A text with the plain forms of letters, digits and kana: the part of Unicode's NFKC form that people type.
CREATE MACRO plain_text(written) AS nfc_normalize(CASE
    WHEN regexp_matches(written, '[@wide@@joined@]')
    THEN @open_joined@translate(written, '@wide@', '@narrow@')@close_joined@
    ELSE written
END);

-- The words of an identifier, with blanks between them: HTTPHeader and http2 part, APIs does not.
CREATE MACRO ascii_parts(name) AS replace(regexp_replace(regexp_replace(regexp_replace(regexp_replace(regexp_replace(
    name, '([A-Z]{2,})s([^a-z]|$)', '\1$ \2', 'g'), '([A-Z]+)([A-Z][a-z])', '\1 \2', 'g'), '([a-z])([A-Z])', '\1 \2', 'g'),
    '([A-Za-z])([0-9])', '\1 \2', 'g'), '([0-9])([A-Za-z])', '\1 \2', 'g'), '$', 's');

-- The same where other letters are among them; writing without spaces between words stands alone.
CREATE MACRO other_parts(name) AS regexp_replace(regexp_replace(regexp_replace(regexp_replace(regexp_replace(
    name, '([@unspaced@]+)', ' \1 ', 'g'), '([^ ])(\p{Lu}\p{Ll})', '\1 \2', 'g'), '(\p{Ll})(\p{Lu})', '\1 \2', 'g'),
    '([^\p{Nd} ])(\p{Nd})', '\1 \2', 'g'), '(\p{Nd})([^\p{Nd} ])', '\1 \2', 'g'); -- codespell:ignore nd

-- How far the part of a word goes that a first vowel and the consonant behind it end; all of it where there is none.
CREATE MACRO word_region(word) AS
    coalesce(nullif(length(regexp_extract(word, '^.*?[aeiouy][^aeiouy]')), 0), length(word));

CREATE MACRO ends_short(word) AS regexp_matches(word, '^[aeiouy][^aeiouy]$|[^aeiouy][aeiouy][^aeiouywxY]$');

-- JSON by regular expressions: a browser has the functions for it in an extension that it would fetch from elsewhere.
CREATE MACRO no_objects(members) AS regexp_replace(members, '("(?:[^"\\]|\\.)*")|\{(?:[^{}"]|"(?:[^"\\]|\\.)*")*\}', '\1', 'g');

-- A text as JSON writes it, but for rare signs.
CREATE MACRO in_quotes(written) AS
    '"' || replace(replace(replace(written, '\', '\\'), '"', '\"'), chr(10), '\n') || '"';

CREATE MACRO one_line(written) AS trim(regexp_replace(written, '[\s"\\]+', ' ', 'g'));

CREATE MACRO search(said) AS TABLE
WITH asked_words AS MATERIALIZED (
    SELECT DISTINCT unnest(regexp_extract_all(said, '[^\s\p{Z}]+')) AS word
), flat AS (
    SELECT t.path, t.title, t.body, unnest(regexp_extract_all(
        CASE WHEN contains(t.members, '{') THEN no_objects(no_objects(t.members)) ELSE t.members END,
        '"(?:[^"\\]|\\.)*":(?:"(?:[^"\\]|\\.)*"|\[(?:[^\]"]|"(?:[^"\\]|\\.)*")*\])'
    )) AS member
    FROM (
        SELECT r.path, r.title, r.body, no_objects(substr(r.data, 2, length(r.data) - 2)) AS members FROM records AS r
    ) AS t
), own AS MATERIALIZED (
    SELECT f.path, f.title, f.body, substr(f.member, length(split_part(f.member, '"', 2)) + 4) AS said
    FROM flat AS f
    WHERE split_part(f.member, '"', 2) NOT IN (@no_text@)
), fields AS (
    SELECT t.path, string_agg(t.said, chr(10)) AS said
    FROM (
        SELECT o.path, o.title, o.body, regexp_replace(o.said, '\\(?:u[0-9a-f]{4}|.)', ' ', 'g') AS said
        FROM own AS o
        WHERE o.said NOT IN (in_quotes(o.title), in_quotes(o.body)) -- most are, and need no closer look
    ) AS t
    WHERE one_line(t.said) NOT IN (one_line(t.title), one_line(t.body))
    GROUP BY t.path
), slots AS MATERIALIZED (
    SELECT s.*, row_number() OVER (ORDER BY s.key) AS slot
    FROM (
        SELECT
            r.path AS key, r.id AS owner, FALSE AS chunk, r.searched, r.title, t.tags,
            concat_ws(
                chr(10), CASE WHEN c.record_id IS NULL THEN r.body END, f.said, regexp_replace(
                    regexp_extract(r.data, '"semantic_seed":"((?:[^"\\]|\\.)*)"', 1), '\\(?:u[0-9a-f]{4}|.)', ' ', 'g'
                )
            ) AS body
        FROM records AS r
        LEFT JOIN fields AS f ON f.path = r.path
        LEFT JOIN (SELECT DISTINCT h.record_id FROM chunks AS h) AS c ON c.record_id = r.id
        LEFT JOIN (
            SELECT g.record_id, string_agg(g.tag, chr(10)) AS tags
            FROM tags AS g WHERE g.axis IN ('tag', 'symbol', 'label') GROUP BY g.record_id
        ) AS t ON t.record_id = r.id
        UNION ALL
        SELECT r.path || chr(9) || (h.position + 1), r.id, TRUE, r.searched, h.breadcrumb, NULL, h.body
        FROM chunks AS h JOIN records AS r ON r.id = h.record_id
        UNION ALL
        SELECT
            s.path, s.path, FALSE, TRUE,
            CASE WHEN s.description = '' THEN s.title ELSE s.title || ': ' || s.description END, NULL, s.body
        FROM skills AS s
    ) AS s
), asked AS MATERIALIZED (
    SELECT w.word, -row_number() OVER () AS slot FROM asked_words AS w
), counted AS MATERIALIZED (
    SELECT f.slot, f.weight, f.piece, count(*) AS times
    FROM (
        SELECT p.slot, p.weight, unnest(regexp_extract_all(
            CASE WHEN strlen(p.content) = length(p.content) THEN p.content ELSE plain_text(p.content) END, '[@piece@]+'
        )) AS piece
        FROM (
            SELECT s.slot, @title@ AS weight, s.title AS content FROM slots AS s
            UNION ALL SELECT s.slot, @tags@, s.tags FROM slots AS s
            UNION ALL SELECT s.slot, @body@, s.body FROM slots AS s
            UNION ALL SELECT a.slot, 1, a.word FROM asked AS a
        ) AS p
    ) AS f
    GROUP BY ALL
), words AS (
    SELECT p.piece, unnest(regexp_extract_all(p.piece, '[\p{L}\p{N}@marks@]+')) AS word
    FROM (SELECT DISTINCT c.piece FROM counted AS c) AS p
), parted AS (
    SELECT w.piece, unnest(CASE
        WHEN regexp_full_match(w.word, '[0-9a-f]{7,64}')
            AND regexp_matches(w.word, '[0-9]') AND regexp_matches(w.word, '[a-f]')
        THEN [w.word]
        WHEN strlen(w.word) = length(w.word) THEN string_split(ascii_parts(w.word), ' ')
        ELSE string_split(other_parts(w.word), ' ')
    END) AS part
    FROM words AS w
), parts AS MATERIALIZED (
    SELECT q.piece, q.word, count(*) AS times
    FROM (
        SELECT d.piece, left(lower(d.part), @longest@) AS word
        FROM parted AS d WHERE d.part <> '' AND NOT regexp_matches(d.part, '^[@unspaced@]')
        UNION ALL
        SELECT d.piece, substr(d.part, d.place, 2)
        FROM (
            SELECT e.piece, e.part, unnest(generate_series(1, greatest(length(e.part) - 1, 1))) AS place
            FROM parted AS e WHERE regexp_matches(e.part, '^[@unspaced@]')
        ) AS d
    ) AS q
    WHERE q.word NOT IN (@common@)
    GROUP BY ALL
), marked AS (
    SELECT w.word, regexp_replace(regexp_replace(w.word, '^y', 'Y'), '([aeiouy])y', '\1Y', 'g') AS word_0
    FROM (SELECT DISTINCT p.word FROM parts AS p) AS w
    WHERE regexp_full_match(w.word, '[a-z]{3,}') AND w.word NOT IN (@whole_words@)
), first_region AS (
    SELECT
        m.*,
        coalesce(nullif(length(regexp_extract(m.word_0, '^(?:@prefixes@)')), 0), word_region(m.word_0)) AS region_1
    FROM marked AS m
), singular AS (
    SELECT f.*, f.region_1 + word_region(substr(f.word_0, f.region_1 + 1)) AS region_2, CASE
        WHEN ends_with(f.word_0, 'sses') THEN left(f.word_0, -2)
        WHEN regexp_matches(f.word_0, 'ie[ds]$') THEN left(f.word_0, CASE WHEN length(f.word_0) > 4 THEN -2 ELSE -1 END)
        WHEN regexp_matches(f.word_0, '[aeiouy].*[^us]s$') THEN left(f.word_0, -1)
        ELSE f.word_0
    END AS word_1
    FROM first_region AS f
), ended AS (
    SELECT
        g.*,
        regexp_extract(g.word_1, '(?:eedly|eed)$') AS eed,
        regexp_extract(g.word_1, '(?:ingly|edly|ing|ed)$') AS ending
    FROM singular AS g
), cut AS (
    SELECT e.*, left(e.word_1, length(e.word_1) - length(e.ending)) AS rest FROM ended AS e
), present AS (
    SELECT c.word, c.region_1, c.region_2, c.word_1, CASE
        WHEN c.eed <> '' THEN CASE
            WHEN length(c.word_1) - length(c.eed) < c.region_1 THEN c.word_1
            ELSE left(c.word_1, length(c.word_1) - length(c.eed)) || 'ee'
        END
        WHEN c.ending = '' OR NOT regexp_matches(c.rest, '[aeiouy]') THEN c.word_1
        WHEN c.ending = 'ing' AND length(c.rest) = 2 AND ends_with(c.rest, 'y') THEN left(c.rest, 1) || 'ie'
        WHEN regexp_matches(c.rest, '(?:at|bl|iz)$') THEN c.rest || 'e'
        WHEN right(c.rest, 2) IN (@doubles@) AND NOT regexp_full_match(c.rest, '[aeo]..') THEN left(c.rest, -1)
        WHEN c.region_1 >= length(c.rest) AND ends_short(c.rest) THEN c.rest || 'e'
        ELSE c.rest
    END AS word_2
    FROM cut AS c
), with_i AS (
    SELECT p.*, regexp_replace(p.word_2, '^(.+[^aeiouy])[yY]$', '\1i') AS word_3 FROM present AS p
), second AS (
    SELECT w.*, regexp_extract(w.word_3, '(?:@ends_2@)$') AS ending FROM with_i AS w
), step_2 AS (
    SELECT s.* EXCLUDE (ending), CASE
        WHEN s.ending = '' OR length(s.word_3) - length(s.ending) < s.region_1
            OR (s.ending = 'ogi' AND NOT ends_with(s.word_3, 'logi'))
            OR (s.ending = 'li' AND NOT regexp_matches(s.word_3, '[@li_endings@]li$')) THEN s.word_3
        ELSE left(s.word_3, length(s.word_3) - length(s.ending)) || CASE s.ending @cases_2@
    END AS word_4
    FROM second AS s
), third AS (
    SELECT s.*, regexp_extract(s.word_4, '(?:@ends_3@)$') AS ending FROM step_2 AS s
), step_3 AS (
    SELECT t.* EXCLUDE (ending), CASE
        WHEN t.ending = '' OR length(t.word_4) - length(t.ending)
            < CASE t.ending WHEN 'ative' THEN t.region_2 ELSE t.region_1 END -- codespell:ignore ative
        THEN t.word_4
        ELSE left(t.word_4, length(t.word_4) - length(t.ending)) || CASE t.ending @cases_3@
    END AS word_5
    FROM third AS t
), fourth AS (
    SELECT s.*, regexp_extract(s.word_5, '(?:@ends_4@)$') AS ending FROM step_3 AS s
), step_4 AS (
    SELECT f.* EXCLUDE (ending), CASE
        WHEN f.ending = '' OR length(f.word_5) - length(f.ending) < f.region_2
            OR (f.ending = 'ion' AND NOT regexp_matches(f.word_5, '[st]ion$')) THEN f.word_5
        ELSE left(f.word_5, length(f.word_5) - length(f.ending))
    END AS word_6
    FROM fourth AS f
), stems AS (
    SELECT s.word, CASE
        WHEN s.word_1 IN (@after_plural@) THEN s.word_1
        WHEN (ends_with(s.word_6, 'e') AND (
                length(s.word_6) > s.region_2 OR (length(s.word_6) > s.region_1 AND NOT ends_short(left(s.word_6, -1)))
            )) OR (ends_with(s.word_6, 'll') AND length(s.word_6) > s.region_2)
        THEN replace(left(s.word_6, -1), 'Y', 'y')
        ELSE replace(s.word_6, 'Y', 'y')
    END AS term
    FROM step_4 AS s
    UNION ALL SELECT * FROM (VALUES @whole_pairs@) AS whole (word, term)
), piece_terms AS MATERIALIZED (
    SELECT p.piece, coalesce(s.term, p.word) AS term, sum(p.times) AS times
    FROM parts AS p LEFT JOIN stems AS s ON s.word = p.word
    GROUP BY ALL
), lengths AS MATERIALIZED (
    SELECT s.slot, coalesce(l.length, 0) AS length
    FROM slots AS s
    LEFT JOIN (
        SELECT c.slot, sum(c.weight * c.times * p.terms) AS length
        FROM counted AS c
        JOIN (SELECT t.piece, sum(t.times) AS terms FROM piece_terms AS t GROUP BY t.piece) AS p ON p.piece = c.piece
        GROUP BY c.slot
    ) AS l ON l.slot = s.slot
), norms AS MATERIALIZED (
    SELECT
        l.slot,
        2 * @k1@ * (1 - @b@) + 2 * @k1@ * @b@ / coalesce(nullif(avg(l.length) OVER (), 0), 1) * l.length AS norm
    FROM lengths AS l
), asked_terms AS MATERIALIZED (
    SELECT c.slot, t.term, sum(c.times * t.times) AS times
    FROM counted AS c JOIN piece_terms AS t ON t.piece = c.piece
    WHERE c.slot < 0
    GROUP BY ALL
), asked_grams AS MATERIALIZED (
    SELECT substr(g.marked, g.place, g.size) AS gram, g.size, sum(g.times) AS times
    FROM (
        SELECT s.marked, s.times, s.size, unnest(generate_series(1, length(s.marked) - s.size + 1)) AS place
        FROM (
            SELECT '_' || a.term || '_' AS marked, a.times, unnest(generate_series(@shortest@, @longest_gram@)) AS size
            FROM asked_terms AS a
        ) AS s
    ) AS g
    GROUP BY ALL
), near_terms AS (
    SELECT DISTINCT v.term
    FROM (
        SELECT u.term, unnest(generate_series(1, length(u.term))) AS place
        FROM (SELECT DISTINCT t.term FROM piece_terms AS t) AS u
    ) AS v
    WHERE substr('_' || v.term || '_', v.place, @shortest@) IN (SELECT g.gram FROM asked_grams AS g)
    UNION SELECT a.term FROM asked_terms AS a
), postings AS MATERIALIZED (
    SELECT c.slot, t.term, sum(c.weight * c.times * t.times) AS counts
    FROM counted AS c
    JOIN piece_terms AS t ON t.piece = c.piece
    JOIN near_terms AS n ON n.term = t.term
    WHERE c.slot > 0
    GROUP BY ALL
), held AS MATERIALIZED (
    SELECT p.term, count(*) AS texts FROM postings AS p GROUP BY p.term
), size AS MATERIALIZED (
    SELECT count(*) AS texts FROM slots AS s
), weighed AS MATERIALIZED (
    SELECT
        a.term,
        ln(1 + (z.texts - coalesce(h.texts, 0) + 0.5) / (coalesce(h.texts, 0) + 0.5::DOUBLE)) * (@k1@ + 1) AS worth
    FROM (SELECT DISTINCT t.term FROM asked_terms AS t) AS a
    LEFT JOIN held AS h ON h.term = a.term
    CROSS JOIN size AS z
), gained AS MATERIALIZED (
    SELECT
        s.slot, s.key, s.owner, s.chunk,
        list_sum(list(w.worth * p.counts / (p.counts + n.norm) ORDER BY w.worth DESC, w.term))
            / (SELECT list_sum(list(v.worth ORDER BY v.term)) FROM weighed AS v) AS score
    FROM postings AS p
    JOIN weighed AS w ON w.term = p.term
    JOIN slots AS s ON s.slot = p.slot
    JOIN norms AS n ON n.slot = p.slot
    WHERE s.searched
    GROUP BY s.slot, s.key, s.owner, s.chunk
), names AS (
    SELECT r.id AS name, r.id FROM records AS r
    UNION ALL
    SELECT l.legacy_id, l.record_id FROM legacy_ids AS l WHERE l.legacy_id NOT IN (SELECT r.id FROM records AS r)
), named AS MATERIALIZED (
    SELECT DISTINCT r.id
    FROM asked AS a
    JOIN names AS n ON n.name = trim(a.word, '@edges@')
    JOIN records AS r ON r.id = n.id AND r.searched
    WHERE contains(a.word, '-') AND a.slot IN (SELECT t.slot FROM asked_terms AS t)
), way AS MATERIALIZED (
    SELECT
        f.lean, CASE WHEN f.lean THEN 0 WHEN f.deep THEN @pool_deep@ ELSE @pool_balanced@ END AS pool,
        f.deep AND NOT f.lean AS deep
    FROM (
        SELECT
            len(regexp_extract_all(said, '[^\s\p{Z}]+')) = 1
                AND regexp_full_match(trim(trim(said), '@quotes@'), '@identifier@')
                AND (EXISTS (SELECT 1 FROM named AS n) OR EXISTS (SELECT 1 FROM gained AS g WHERE NOT g.chunk)) AS lean,
            len(regexp_extract_all(said, '[^\s\p{Z}]+')) > @long@ OR regexp_matches(said, '[?？][\s\p{Z}]*$') AS deep
    ) AS f
), placed AS MATERIALIZED (
    SELECT g.*, w.pool, row_number() OVER (ORDER BY g.score DESC, g.key) AS place
    FROM gained AS g CROSS JOIN way AS w
    WHERE NOT (g.chunk AND w.lean)
), term_grams AS MATERIALIZED (
    SELECT g.term, substr(g.marked, g.place, g.size) AS gram
    FROM (
        SELECT s.term, s.marked, s.size, unnest(generate_series(1, length(s.marked) - s.size + 1)) AS place
        FROM (
            SELECT h.term, '_' || h.term || '_' AS marked, unnest(generate_series(@shortest@, @longest_gram@)) AS size
            FROM held AS h
        ) AS s
    ) AS g
    WHERE substr(g.marked, g.place, g.size) IN (SELECT a.gram FROM asked_grams AS a)
), gram_worth AS (
    SELECT
        a.gram,
        (1 + ln(a.times)) * pow(ln((1 + z.texts) / (1 + least(f.texts, z.texts))::DOUBLE) + 1, 2) AS worth
    FROM asked_grams AS a
    JOIN (
        SELECT t.gram, sum(h.texts) AS texts
        FROM (SELECT DISTINCT g.term, g.gram FROM term_grams AS g) AS t
        JOIN held AS h ON h.term = t.term
        GROUP BY t.gram
    ) AS f ON f.gram = a.gram
    CROSS JOIN size AS z
), term_weights AS (
    SELECT t.term, fsum(w.worth) AS weight FROM term_grams AS t JOIN gram_worth AS w ON w.gram = t.gram GROUP BY t.term
), head AS (
    SELECT
        p.slot, p.score, p.place, p.owner,
        round(coalesce(c.total, 0) / sqrt(coalesce(nullif(l.length / 2.0::DOUBLE, 0), 1)), 10) AS likeness
    FROM placed AS p
    JOIN lengths AS l ON l.slot = p.slot
    LEFT JOIN (
        SELECT o.slot, fsum(t.weight * (1 + ln(greatest(o.counts, 2) / 2.0::DOUBLE))) AS total
        FROM postings AS o JOIN term_weights AS t ON t.term = o.term GROUP BY o.slot
    ) AS c ON c.slot = p.slot
    WHERE p.place <= p.pool
), fused AS (
    SELECT
        h.owner, h.place,
        rank() OVER (
            ORDER BY 1 / (@smoothing@ + h.first)::DOUBLE + 1 / (@smoothing@ + h.second)::DOUBLE DESC, h.score DESC
        ) AS best
    FROM (
        SELECT
            d.*, rank() OVER (ORDER BY d.score DESC) AS first, rank() OVER (ORDER BY d.likeness DESC) AS second
        FROM head AS d
    ) AS h
), texts AS (
    SELECT f.owner, f.best AS place, f.place AS among, p.score FROM fused AS f JOIN placed AS p ON p.place = f.best
    UNION ALL SELECT p.owner, p.place, p.place, p.score FROM placed AS p WHERE p.place > p.pool
), direct AS MATERIALIZED (
    SELECT n.id AS owner, 0 AS place, 1::DOUBLE AS score FROM named AS n
    UNION ALL
    SELECT t.owner, min(t.place * 1000000 + t.among), max(t.score) FROM texts AS t
    WHERE t.owner NOT IN (SELECT n.id FROM named AS n)
    GROUP BY t.owner
), linked AS (
    SELECT r.id AS owner, max(d.score) * @linked@ AS score
    FROM (SELECT * FROM direct ORDER BY place, owner LIMIT @leading@) AS d
    JOIN links AS l ON l.record_id = d.owner AND NOT l.derived
    JOIN names AS n ON n.name = l.target
    JOIN records AS r ON r.id = n.id AND r.searched
    WHERE (SELECT w.deep FROM way AS w) AND r.id NOT IN (SELECT o.owner FROM direct AS o)
    GROUP BY r.id
), found AS (
    SELECT d.owner, least(d.score, 1) AS score FROM direct AS d UNION ALL SELECT l.owner, l.score FROM linked AS l
)
SELECT
    f.owner AS id, f.score, coalesce(r.title, s.title) AS title, coalesce(r.kind, 'skill') AS kind,
    coalesce(r.status, 'active') AS status, coalesce(r.path, s.path) AS path
FROM found AS f
LEFT JOIN records AS r ON r.id = f.owner
LEFT JOIN skills AS s ON s.path = f.owner
LEFT JOIN vote_scores((SELECT m.value::DOUBLE FROM meta AS m WHERE m.name = 'half_life_days')) AS v
    ON v.record_id = f.owner
WHERE NOT (
    SELECT bool_and(split_part(trim(lower(a.word), '@frame@'), '''', 1) IN (@generic@))
    FROM asked AS a WHERE a.slot IN (SELECT t.slot FROM asked_terms AS t)
)
ORDER BY f.score DESC, v.rank_key DESC NULLS LAST, r.priority DESC, r.updated_at DESC NULLS LAST, f.owner;
