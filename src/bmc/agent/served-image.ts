/** Wait for the boot service to have an image. It fetches an image once, and checks it before it sends any of it. */
import { request } from 'undici';
import { type ErrorCode, raise } from '../../model/errors';
import { endingWithin } from '../../model/signals';
import type { ActContext, BmcNode } from '../contract';
import { pause } from '../wait';

const imageAnswerMs = 10_000;
const awayMs = 60_000;
const reasonBytes = 1_000;

type Answer = { readonly status: number; readonly reason: string };

const ask = async (url: string, signal: AbortSignal): Promise<Answer> => {
  const { statusCode, body } = await request(url, {
    headers: { range: 'bytes=0-0' },
    maxRedirections: 0,
    signal: endingWithin(signal, imageAnswerMs),
  });
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of body) {
      chunks.push(chunk as Buffer);
      size += (chunk as Buffer).length;
      if (size >= reasonBytes) break;
    }
  } finally {
    body.on('error', () => {}).destroy();
  }
  return { status: statusCode, reason: Buffer.concat(chunks).toString('utf8', 0, reasonBytes).trim() };
};

/** Of images of Glance: 410 for one that is gone or changed, 504 if Glance did not answer. */
const errorsOf: Readonly<Record<number, ErrorCode>> = { 410: 'InvalidImage', 504: 'GlanceUnavailable' };

const reasons: Readonly<Record<number, string>> = {
  404: 'the boot service does not know its URL; does it use the same database as this worker',
};

/** Throws ImageNotServed, InvalidImage or GlanceUnavailable with the boot service's reason, BootServiceAway after a minute without an answer. */
export const untilServed = async (
  { name: image, url }: NonNullable<BmcNode['served_image']>,
  { signal, beat, timing }: Pick<ActContext, 'signal' | 'beat' | 'timing'>,
): Promise<void> => {
  let answered = performance.now();
  for (;;) {
    const answer = await ask(url, signal).catch((thrown: Error) => {
      signal.throwIfAborted();
      if (performance.now() - answered < awayMs) return undefined;
      return raise('BootServiceAway', { url: new URL(url).origin, reason: thrown.message });
    });
    if (answer) answered = performance.now();
    if (answer?.status === 206) return;
    if (answer && answer.status !== 503)
      raise(errorsOf[answer.status] ?? 'ImageNotServed', {
        image,
        reason: reasons[answer.status] ?? (answer.reason || `status ${answer.status}`),
      });
    beat({ what: 'write the image', doing: 'waiting for the boot service to fetch the image' });
    await pause(timing.pollMs, signal);
  }
};
