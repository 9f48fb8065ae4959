-- What a proof asks: each case of a measure, and whether a way has what was looked for.
CREATE TABLE cases (measure VARCHAR, way VARCHAR, has_it BOOLEAN);
