/** Times of queries: a moment with its zone, or a whole day in UTC. */
import { z } from 'zod';

const says = 'must be a day, such as 2026-11-30, or a time with its zone, such as 2026-11-30T18:00:00Z';
const moment = z.iso.datetime({ offset: true, error: says });
const day = z.iso.date({ error: says });
const dayMs = 24 * 3600 * 1000;

const given = (ofDay: (midnight: number) => number) =>
  z
    .union([moment, day], { error: says })
    .transform((text) => new Date(text.length === 10 ? ofDay(Date.parse(text)) : text));

/** Inclusive: a day from its beginning. */
export const sinceMoment = given((midnight) => midnight);
/** Exclusive: a day to its end. */
export const untilMoment = given((midnight) => midnight + dayMs);
