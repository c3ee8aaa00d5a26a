/** Requests and responses that are Express' own from the moment they are made. */
import { IncomingMessage, type RequestListener, ServerResponse } from 'node:http';
import type { Express } from 'express';

/** What a server makes its requests and responses of, as `createServer` takes it. */
export type Messages = {
  readonly IncomingMessage: typeof IncomingMessage;
  readonly ServerResponse: typeof ServerResponse;
};

/** What answers requests of any server; one that is made with `messages` answers them with less work. */
export type ApiListener = RequestListener & { readonly messages: Messages };

/**
 * Express replaces the prototype of each request and response by an object of its own. All that such a request holds survives the
 * collections of young objects (22 kB of each; Node 20), and each of these takes ten times as long. Instances of a class whose
 * prototype inherits from Express' leave nothing, and need no other prototype.
 */
export const messagesOf = ({ request, response }: Express): Messages => {
  class ApiMessage extends IncomingMessage {}
  class ApiResponse<Asked extends IncomingMessage> extends ServerResponse<Asked> {}
  Object.setPrototypeOf(ApiMessage.prototype, request);
  Object.setPrototypeOf(ApiResponse.prototype, response);
  return { IncomingMessage: ApiMessage, ServerResponse: ApiResponse };
};

/** Makes them Express' own where they are of another server. */
export const asExpress = (app: Express, request: IncomingMessage, response: ServerResponse): void => {
  if (!Object.prototype.isPrototypeOf.call(app.request, request)) Object.setPrototypeOf(request, app.request);
  if (!Object.prototype.isPrototypeOf.call(app.response, response)) Object.setPrototypeOf(response, app.response);
};
