/** Change of scope: another project, or the system, for the same user. */
import { ActForm, Send } from '../parts/forms';
import type { PageAnswer, PageContext } from '../server/context';

export const scopePage = async ({ keystone, session }: PageContext): Promise<PageAnswer> => {
  const { credentials } = session;
  const projects =
    keystone && session.keystone && credentials.is === 'token' ? await keystone.projects(credentials.token) : undefined;
  const body = (
    <>
      <h1>Project and scope</h1>
      <p>
        You are signed in as <b>{session.name}</b>, in <b>{session.scope}</b>.
      </p>
      {projects === undefined ? (
        <p class="empty">These credentials have one scope only. Sign out, and sign in with others.</p>
      ) : (
        <ActForm session={session} action="/scope" class="row">
          {projects.map(({ id, name }) => (
            <Send key={id} name="project" value={id} label={name} />
          ))}
          <Send name="project" value="" label="The system" />
        </ActForm>
      )}
    </>
  );
  return { title: 'Project and scope', body };
};
