class Groups:
    def __init__(self):
        self.width = None
        self.row = None


groups = Groups()
