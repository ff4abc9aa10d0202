import { consoleWalksSuite } from '../support/suites/console-walks.js';
import { EDITIONS } from '../support/settings.js';

consoleWalksSuite(...EDITIONS['1.0.3']);
