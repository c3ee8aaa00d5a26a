/** Which routes a request is compared with: those of its own group, for comparing it with every path of the API costs more than most answers. */
import { type Express, type RequestHandler, Router } from 'express';

/** Words that every path of a group has in common: the version, and the collection behind it. */
const commonWords = (segments: readonly string[]): string[] => segments.slice(0, segments[1] === 'temper' ? 4 : 3);

/** The group of a path, be it a route's or a request's: a request matches no route of another group. */
export const groupOf = (path: string): string => {
  const segments = path.split('/');
  return `${segments.length}${commonWords(segments).join('/')}`;
};

/** Where routes are added, each to the group of its path. */
export type Dispatch = {
  /** Throws where a parameter of the path stands among the words that groups are made of. */
  route(path: string): ReturnType<Router['route']>;
  /** To be used behind what brings paths to their one form; goes on where no route of the group matches. */
  readonly handle: RequestHandler;
};

/** Within a group, routes are tried in the order in which they were added. */
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
