import Router from '@koa/router';

import { CdrError } from '../../base/errors.js';
import { NOT_IMPLEMENTED_MESSAGE } from '../http/error-status.js';

/** Templates in ADL 2 are part of ITS-REST and not offered here: 501 whatever the request holds. */
export function adl2Routes(): Router {
  const router = new Router();
  const base = '/definition/template/adl2';
  const refuse = (): never => {
    throw new CdrError('not-implemented', NOT_IMPLEMENTED_MESSAGE);
  };
  router.post(base, refuse);
  router.get(base, refuse);
  router.get(`${base}/:template_id`, refuse);
  router.get(`${base}/:template_id/example`, refuse);
  router.get(`${base}/:template_id/:version`, refuse);
  return router;
}
