-- A control worker starts a run that the engine has lost anew, under a higher fence. Whose run it is stays closed to it.
grant update (fence, plan, ending, restart_at) on runs to temper_control;
