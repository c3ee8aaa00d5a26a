/** Groups of routes: a match with every path would cost more than most answers. */
import { type Express, type RequestHandler, Router } from 'express';

/** The version and the collection. */
const commonWords = (segments: readonly string[]): string[] => segments.slice(0, segments[1] === 'temper' ? 4 : 3);

/** For paths of routes and requests. A request matches no route of another group. */
export const groupOf = (path: string): string => {
  const segments = path.split('/');
  return `${segments.length}${commonWords(segments).join('/')}`;
};

export type Dispatch = {
  /** Throws if a parameter is among the group's words. */
  route(path: string): ReturnType<Router['route']>;
  /** Must follow the middleware that normalises paths. */
  readonly handle: RequestHandler;
};

/** Within a group, routes match in the order of addition. */
export const createDispatch = (app: Express): Dispatch => {
  const groups = new Map<string, Router>();
  const add = (key: string): Router => {
    const made = Router({ caseSensitive: app.enabled('case sensitive routing') });
    groups.set(key, made);
    return made;
  };
  return {
    route: (path) => {
      if (commonWords(path.split('/')).some((word) => word.startsWith(':')))
        throw new Error(`${path}: a parameter stands where requests are distinguished by words`);
      const key = groupOf(path);
      return (groups.get(key) ?? add(key)).route(path);
    },
    handle: (request, response, next) => {
      const group = groups.get(groupOf(request.path));
      if (group) group(request, response, next);
      else next();
    },
  };
};
