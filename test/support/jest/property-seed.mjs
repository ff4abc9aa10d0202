import fc from 'fast-check';

/**
 * Property tests of `npm test` are the same at each run: a change is judged by what it changed, not by the draw of the day.
 * `PROPERTY_SEED=random` draws anew, `PROPERTY_SEED=<number>` repeats a draw that failed.
 */
const wanted = process.env.PROPERTY_SEED ?? '20261122';
if (wanted !== 'random') fc.configureGlobal({ seed: Number(wanted) });
