/** Texts of events for streams: made once for all streams of a caller, and anew for another caller or other rules. */
import { createEventTexts, type ViewFor } from '../../src/api/temper/events/event-texts';
import type { SeenEvent } from '../../src/inventory/event-pages';
import { anonymous, type Caller } from '../../src/model/access/callers';
import type { Policy } from '../../src/policy';

const eventOf = (seq: number): SeenEvent => ({ seq, kind: 'step.begun' }) as SeenEvent;
const policyOf = (hash: string): Policy => ({ hash }) as Policy;
const callerOf = (user_id: string): Caller => ({ ...anonymous, user_id });

let seen: [string, string | null, number][] = [];
let hidden = false;
beforeEach(() => {
  seen = [];
  hidden = false;
});
const view: ViewFor = ({ hash }, { user_id }, { seq, kind }) => {
  seen.push([hash, user_id, seq]);
  return hidden ? undefined : { seq, kind, as: `${user_id} by ${hash}` };
};
let policy = policyOf('first');
beforeEach(() => {
  policy = policyOf('first');
});
const textsFor = (who: Caller) => createEventTexts(() => policy, who, view);

test('two streams of one caller, each with a login of its own, have one text', () => {
  const [one, other, event] = [textsFor(callerOf('a')), textsFor(callerOf('a')), eventOf(1)];
  expect(one.of(event)).toBe('id: 1\nevent: step.begun\ndata: {"seq":1,"kind":"step.begun","as":"a by first"}\n\n');
  expect(other.of(event)).toBe(one.of(event));
  expect(seen).toEqual([['first', 'a', 1]]);
});

test('another caller has a text of its own', () => {
  const event = eventOf(1);
  expect(textsFor(callerOf('a')).of(event)).toContain('a by first');
  expect(textsFor(callerOf('b')).of(event)).toContain('b by first');
});

test('that an event is hidden is decided once, too', () => {
  hidden = true;
  const event = eventOf(1);
  expect(textsFor(callerOf('a')).of(event)).toBeUndefined();
  expect(textsFor(callerOf('a')).of(event)).toBeUndefined();
  expect(seen).toHaveLength(1);
});

test('rules that were loaded meanwhile decide anew, also of what was hidden', () => {
  const [texts, event] = [textsFor(callerOf('a')), eventOf(1)];
  hidden = true;
  expect(texts.of(event)).toBeUndefined();
  hidden = false;
  policy = policyOf('second');
  expect(texts.of(event)).toContain('a by second');
});

test('a caller that has changed while the stream is open is decided about anew', () => {
  const [texts, event] = [textsFor(callerOf('a')), eventOf(1)];
  texts.of(event);
  texts.setCaller({ ...callerOf('a'), roles: ['reader'] });
  texts.of(event);
  texts.setCaller({ ...callerOf('a'), roles: ['reader'] });
  texts.of(event);
  expect(seen).toHaveLength(2);
});
