import { LENIENT, LENIENT_IGNORED } from '../../routes/http/request/prefer.js';
import { AnswerError, type ApiClient } from './api-client.js';

/**
 * A client whose every request asks for lenient validation, reads too: they show what was left out, as it stands in the
 * source. @throws AnswerError as soon as the server says that it does not honour that
 */
export function lenientClient(client: ApiClient): ApiClient {
  return {
    ...client,
    async send(method, path, request = {}) {
      const { Prefer: preferred, ...headers } = request.headers ?? {};
      const Prefer = preferred === undefined ? LENIENT : `${preferred}, ${LENIENT}`;
      const answer = await client.send(method, path, { ...request, headers: { ...headers, Prefer } });
      if (answer.warning.includes(LENIENT_IGNORED)) throw new AnswerError(answer.status, LENIENT_IGNORED);
      return answer;
    },
  };
}
