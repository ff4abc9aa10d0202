import type Router from '@koa/router';
import type { Settings } from '../base/settings.js';
import { adl2Routes } from '../routes/definition/adl2.js';
import { compositionRoutes } from '../routes/ehr/composition.js';
import { contributionRoutes } from '../routes/ehr/contribution.js';
import { directoryRoutes } from '../routes/ehr/directory.js';
import { ehrStatusRoutes } from '../routes/ehr/ehr-status.js';
import { ehrRoutes } from '../routes/ehr/ehr.js';
import { itemTagRoutes } from '../routes/tag/item-tag.js';
import { queryRoutes } from '../routes/query/query.js';
import { storedQueryRoutes } from '../routes/definition/stored-query.js';
import { systemRoutes } from '../routes/system/system.js';
import { templateViewRoutes } from '../routes/definition/template-view.js';
import { templateRoutes } from '../routes/definition/template.js';
import { versionedObjectRoutes } from '../routes/ehr/versioned-object.js';

/** Every resource of the standard API; paths are relative to its prefix. */
export function standardRouters(settings: Settings): Router[] {
  return [
    systemRoutes(),
    ehrRoutes(settings),
    ehrStatusRoutes(settings),
    compositionRoutes(settings),
    versionedObjectRoutes(settings),
    directoryRoutes(settings),
    contributionRoutes(settings),
    templateRoutes(settings),
    templateViewRoutes(settings),
    adl2Routes(),
    storedQueryRoutes(),
    queryRoutes(settings),
    itemTagRoutes(settings),
  ];
}
