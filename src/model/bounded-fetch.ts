/** A fetch that follows no redirect, and reads a whole body of bounded size in bounded time. */
import { textWithin } from './bodies';
import { endingWithin } from './signals';

/** RFC 9110 gives them no body, and a Response with one of them accepts none. */
const bodiless: readonly number[] = [101, 204, 205, 304];

type Bounds = {
  /** Bytes. */
  readonly most: number;
  readonly withinMs: number;
  readonly signal: AbortSignal;
};

/** Throws as the fetcher does, and AnswerTooLong. */
export const boundedFetch =
  (fetcher: typeof fetch, { most, withinMs, signal }: Bounds): typeof fetch =>
  async (url, init) => {
    const reply = await fetcher(url, { ...init, redirect: 'manual', signal: endingWithin(signal, withinMs) });
    const { status, headers } = reply;
    const text = await textWithin(reply, most);
    return new Response(bodiless.includes(status) ? null : text, { status, headers });
  };
