/** ETags: a repeated GET of an unchanged resource gets 304. */
import { hash } from 'node:crypto';
import { namesTag } from '../../model/entity-tags';
import type { Answer, Route } from './route';

/** Single resources and node states, which clients poll. */
export const isShow = ({ method, path, rules }: Route): boolean =>
  method === 'GET' && rules !== 'public' && /\/(:\w+|states)$/.test(path);

/** A strong tag: version, rules and caller change it only through the bytes. */
export const tagOf = (text: string, version: number): string =>
  `"${hash('sha256', `${version}\n${text}`, 'base64url')}"`;

/** 304 if the client has the tag. Clients may cache the answer but must revalidate. */
export const tagged = (answer: Answer, version: number, known: string | undefined): Answer => {
  if (answer.status !== 200 || answer.stream || answer.bytes) return answer;
  const text = answer.text ?? JSON.stringify(answer.body);
  const headers = { ...answer.headers, ETag: tagOf(text, version), 'Cache-Control': 'private, no-cache' };
  return known !== undefined && namesTag(known, headers.ETag)
    ? { status: 304, headers }
    : { status: 200, headers, text };
};
