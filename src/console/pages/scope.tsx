/** Change of scope: another project, or the system, for the same user. */
import { ActForm, Send } from '../parts/forms';
import { Title } from '../parts/texts';
import type { PageAnswer, PageContext } from '../server/context';

export const scopePage = async ({ keystone, session }: PageContext): Promise<PageAnswer> => {
  const { credentials } = session;
  const projects =
    keystone && session.keystone && credentials.is === 'token' ? await keystone.projects(credentials.token) : undefined;
  const body = (
    <>
      <Title text="Project and scope" />
      <p>
        Signed in as <b>{session.name}</b> in <b>{session.scope}</b>
      </p>
      <div id="scope-list">
        {projects === undefined ? (
          <p class="muted">These credentials have one scope. To change it, sign in with others.</p>
        ) : (
          <ActForm session={session} action="/scope" class="scopes">
            {projects.map(({ id, name }) => (
              <Send key={id} name="project" value={id} label={name} />
            ))}
            <Send name="project" value="" label="The system" />
          </ActForm>
        )}
      </div>
    </>
  );
  return { title: 'Project and scope', body };
};
