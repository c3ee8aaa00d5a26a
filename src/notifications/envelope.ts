/** Messages in the envelope of oslo.messaging, version 2.0. openstack/oslo.messaging:oslo_messaging/_drivers/common.py serialize_msg. */
import { createHash } from 'node:crypto';
import type { Document } from '../model/document';
import type { Notice, NotificationLevel } from '../model/notifications/notice';

export type Outgoing = {
  /** `info` or `error`: the end of the routing key. */
  readonly priority: string;
  readonly body: string;
};

/** openstack/oslo.messaging:oslo_messaging/notify/notifier.py names one level otherwise. */
const priorityOf = (level: NotificationLevel): string => (level === 'warning' ? 'warn' : level);

/** The same for a repeat, so that listeners recognise it. */
const stableId = (text: string): string => {
  const hex = createHash('sha256').update(text).digest('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), `5${hex.slice(13, 16)}`, `8${hex.slice(17, 20)}`, hex.slice(20, 32)].join(
    '-',
  );
};

// An event does not say who asked, so the context names no user.
const context = {
  auth_token: null,
  auth_token_info: null,
  domain: null,
  global_request_id: null,
  is_admin: false,
  is_admin_project: true,
  project: null,
  project_domain: null,
  project_id: null,
  read_only: false,
  resource_uuid: null,
  roles: [],
  show_deleted: false,
  system_scope: null,
  user: null,
  user_domain: null,
  user_identity: '- - - - -',
} as const;

/** As Python prints a time without a zone. */
const timestampOf = (at: Date): string => at.toISOString().replace('T', ' ').replace('Z', '000');

type MessageFacts = {
  readonly at: Date;
  readonly host: string /** Names the event and the message's place in it. */;
  readonly key: string;
};

/** @param payload as `payloadOf` makes it */
export const osloMessage = (
  { level, service, type }: Notice,
  payload: Document,
  { at, host, key }: MessageFacts,
): Outgoing => {
  const priority = priorityOf(level);
  const message = {
    message_id: stableId(`message ${key}`),
    publisher_id: `${service}.${host}`,
    event_type: `baremetal.${type}`,
    priority: priority.toUpperCase(),
    payload,
    timestamp: timestampOf(at),
    _unique_id: stableId(`unique ${key}`).replaceAll('-', ''),
    ...Object.fromEntries(Object.entries(context).map(([name, value]) => [`_context_${name}`, value])),
    _context_request_id: `req-${stableId(`request ${key}`)}`,
  };
  return { priority, body: JSON.stringify({ 'oslo.version': '2.0', 'oslo.message': JSON.stringify(message) }) };
};
