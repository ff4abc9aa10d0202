import { commandGroupsSuite } from '../../support/suites/command-groups.js';
import { EDITIONS } from '../../support/settings.js';

commandGroupsSuite(...EDITIONS['1.1.0']);
