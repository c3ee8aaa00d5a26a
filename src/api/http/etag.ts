/** Answers a repeated read of an unchanged resource with 304 in place of its body. */
import { hash } from 'node:crypto';
import { namesTag } from '../../model/entity-tags';
import type { Answer, Route } from './route';

/** One resource, or the states of a node, which clients ask for again and again. */
export const isShow = ({ method, path, rules }: Route): boolean =>
  method === 'GET' && rules !== 'public' && /\/(:\w+|states)$/.test(path);

/** A strong tag of the bytes that are sent: whatever they depend on (version, rules, the caller) changes it, nothing else does. */
export const tagOf = (text: string, version: number): string =>
  `"${hash('sha256', `${version}\n${text}`, 'base64url')}"`;

/** The answer with its tag, or 304 without a body where the caller knows it. It may be kept, and has to be asked about. */
export const tagged = (answer: Answer, version: number, known: string | undefined): Answer => {
  if (answer.status !== 200 || answer.stream || answer.bytes) return answer;
  const text = answer.text ?? JSON.stringify(answer.body);
  const headers = { ...answer.headers, ETag: tagOf(text, version), 'Cache-Control': 'private, no-cache' };
  return known !== undefined && namesTag(known, headers.ETag)
    ? { status: 304, headers }
    : { status: 200, headers, text };
};
